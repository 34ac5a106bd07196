import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The licences of the packages whose files went into a bundle, as one text. `inputs`: of esbuild's metafile, paths relative to `root`.
 * A package without a licence text is named with what its package.json says.
 */
export function renderLicenses(root, inputs) {
  const folders = new Set();
  for (const path of inputs) {
    const [folder] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? [];
    if (folder !== undefined) folders.add(folder);
  }
  const parts = [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
    if (typeof license !== 'string') throw new Error(`${name} does not say its licence`);
    const file = readdirSync(join(root, folder)).find((entry) => /^licen[cs]e(\.|$)/i.test(entry));
    const text = file === undefined ? '' : `\n${readFileSync(join(root, folder, file), 'utf8').trim()}\n`;
    return `${name} ${version} (${license})\n${text}`;
  });
  return `Packages that are part of this build, and their licences.\n\n${parts.join(`\n${'-'.repeat(80)}\n\n`)}`;
}
