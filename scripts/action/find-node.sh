#!/usr/bin/env bash
# Says to the next step of action.yml whether the job has a Node that belay runs on: the job's own stays in force where it does.
set -euo pipefail

fits=false
if command -v node >/dev/null &&
  node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a >= 24 || (a === 22 && b >= 12) || (a === 20 && b >= 19) ? 0 : 1)'; then
  fits=true
fi
echo "fits=${fits}" >>"$GITHUB_OUTPUT"
