// The digest that a log and an attestation name beside the version: of all that the build is made of. package-lock.json has the digests of
// every package. By hand, in a checkout of the same commit:
//   find src scripts package.json package-lock.json -type f | LC_ALL=C sort | xargs sha256sum | sha256sum
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

export function digestSources(root) {
  const below = ['src', 'scripts'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) =>
        join(entry.parentPath, entry.name)
          .slice(root.length)
          .replace(/^[/\\]/, '')
          .replaceAll('\\', '/'),
      ),
  );
  const paths = [...below, 'package.json', 'package-lock.json'].sort((a, b) => (a < b ? -1 : 1));
  return sha256(paths.map((path) => `${sha256(readFileSync(join(root, path)))}  ${path}\n`).join(''));
}
