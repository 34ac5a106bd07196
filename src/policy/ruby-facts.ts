import type { ProjectFiles } from './project-files.ts';

/** How a Ruby project runs its tests. */
export interface RubyFacts {
  runner: 'rspec' | 'rails' | 'rake-test' | 'rake' | 'minitest' | null;
  hasGemfile: boolean;
}

/** null where the folder shows no Ruby project. */
export async function readRubyFacts({ names, read, list }: ProjectFiles): Promise<RubyFacts | null> {
  const hasGemfile = names.has('Gemfile');
  const isGem = [...names].some((name) => name.endsWith('.gemspec'));
  const rakefile = await read('Rakefile');
  if (!hasGemfile && !isGem && rakefile === null) return null;
  const [inBin, inTest, inSpec] = await Promise.all(['bin', 'test', 'spec'].map(list));
  const runner = (): RubyFacts['runner'] => {
    if (names.has('.rspec') || inSpec?.has('spec_helper.rb') || inSpec?.has('rails_helper.rb')) return 'rspec';
    if (inBin?.has('rails')) return 'rails';
    if (names.has('spec') && rakefile === null) return 'rspec';
    if (rakefile !== null) return /\bTestTask\b|^\s*task[ (]+:?test\b/m.test(rakefile) ? 'rake-test' : 'rake';
    return (inTest?.size ?? 0) > 0 ? 'minitest' : null;
  };
  return { runner: runner(), hasGemfile };
}

/** One file after the other in one process, as the test task of rake does it. */
const MINITEST = `ruby -Ilib -Itest -e 'Dir.glob("./test/**/{test_*,*_test}.rb") { |file| require file }'`;

export function rubyTest({ runner, hasGemfile }: RubyFacts): string | null {
  if (runner === null) return null;
  if (runner === 'rails') return 'bin/rails test';
  const command = { rspec: 'rspec', 'rake-test': 'rake test', rake: 'rake', minitest: MINITEST }[runner];
  return hasGemfile ? `bundle exec ${command}` : command;
}
