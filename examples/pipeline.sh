#!/usr/bin/env bash
# belay in any pipeline that has a shell: one goal, one verdict, one branch.
#
#   BELAY="node /path/to/belay/dist/cli.js" examples/pipeline.sh agent GOAL_FILE OUT      the job with the model key
#   BELAY="node /path/to/belay/dist/cli.js" examples/pipeline.sh propose OUT BRANCH       the job with the token that pushes
#
# Both start in a checkout of the same commit. OUT is the folder that goes from one to the other.
set -euo pipefail

read -r -a belay <<<"${BELAY:-belay}"
base="$(git rev-parse HEAD)"

agent() {
  local goal="$1" out="$2" code=0
  mkdir -p "$out"
  "${belay[@]}" run --goal-file "$goal" --trust-ref "$base" --events "$out/events.jsonl" --result "$out/result.json" \
    --patch "$out/change.patch" --format quiet || code=$?
  "${belay[@]}" report "$out/events.jsonl" --format markdown --output "$out/report.md"
  # What the pipeline does next is decided by the code: docs/exit-codes.md. 20 and 23 may be tried again later.
  return "$code"
}

propose() {
  local out="$1" branch="$2"
  "${belay[@]}" verify --patch "$out/change.patch" --base "$base" --expect "$out/result.json" --trust-ref "$base" --format quiet
  git switch --quiet --create "$branch" "$base"
  git apply --index --whitespace=nowarn "$out/change.patch"
  git -c user.name=belay -c user.email=belay@example.invalid commit --quiet --message "A change by belay"
  git push --quiet origin "HEAD:refs/heads/$branch"
}

case "${1:-}" in
  agent) agent "${2:?the file with the goal}" "${3:?the folder for the results}" ;;
  propose) propose "${2:?the folder with the results}" "${3:?the name of the branch}" ;;
  *)
    sed -n '2,7p' "$0" >&2
    exit 2
    ;;
esac
