import type { ProjectFiles } from './project-files.ts';
import { scriptsOf } from './project-manifest.ts';

/** How a PHP project runs its tests. */
export interface PhpFacts {
  runner: 'composer' | 'artisan' | 'pest' | 'phpunit' | 'phpunit-folder' | null;
}

const CONFIGS = ['phpunit.xml', 'phpunit.xml.dist', 'phpunit.dist.xml'];

/** null where the folder shows no PHP project. */
export async function readPhpFacts({ names, read, list }: ProjectFiles): Promise<PhpFacts | null> {
  const manifest = await read('composer.json');
  if (manifest === null) return null;
  if (Object.hasOwn(scriptsOf(manifest), 'test')) return { runner: 'composer' };
  if (names.has('artisan')) return { runner: 'artisan' };
  if ((await list('tests')).has('Pest.php')) return { runner: 'pest' };
  if (CONFIGS.some((name) => names.has(name))) return { runner: 'phpunit' };
  return { runner: names.has('tests') && /"phpunit\/phpunit"/.test(manifest) ? 'phpunit-folder' : null };
}

export function phpTest({ runner }: PhpFacts): string | null {
  const commands = {
    composer: 'composer test',
    artisan: 'php artisan test',
    pest: 'vendor/bin/pest',
    phpunit: 'vendor/bin/phpunit',
    'phpunit-folder': 'vendor/bin/phpunit tests',
  };
  return runner === null ? null : commands[runner];
}
