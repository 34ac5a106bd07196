import type { ProjectFiles } from './project-files.ts';

/** A tool whose project is known by a file, and whose test command is the same for all. */
export interface OtherTool {
  name: string;
  test: string;
  install: string | null;
}

interface Sign extends OtherTool {
  file: RegExp;
  /** What one of the files has to say. */
  mentions?: RegExp;
  /** A folder that has to lie beside it. */
  beside?: string;
}

const SIGNS: readonly Sign[] = [
  { name: 'dotnet', file: /\.(sln|slnx|csproj|fsproj|vbproj)$/, test: 'dotnet test', install: 'dotnet restore' },
  { name: 'elixir', file: /^mix\.exs$/, test: 'mix test', install: 'mix deps.get' },
  { name: 'deno', file: /^deno\.jsonc?$/, test: 'deno test', install: 'deno install' },
  { name: 'swift', file: /^Package\.swift$/, test: 'swift test', install: 'swift package resolve' },
  {
    name: 'flutter',
    file: /^pubspec\.yaml$/,
    mentions: /^\s*flutter:/m,
    test: 'flutter test',
    install: 'flutter pub get',
  },
  { name: 'dart', file: /^pubspec\.yaml$/, mentions: /^/, test: 'dart test', install: 'dart pub get' },
  { name: 'scala', file: /^build\.sbt$/, test: 'sbt test', install: 'sbt update' },
  {
    name: 'cmake',
    file: /^CMakeLists\.txt$/,
    mentions: /^\s*(enable_testing|include)\s*\(\s*(CTest)?\s*\)/im,
    test: 'cmake -B build && cmake --build build && ctest --test-dir build --output-on-failure',
    install: null,
  },
  {
    name: 'perl',
    file: /^(Makefile\.PL|Build\.PL|cpanfile|dist\.ini)$/,
    beside: 't',
    test: 'prove -lr t',
    install: 'cpanm --installdeps .',
  },
  { name: 'just', file: /^\.?justfile$/i, mentions: /^@?test\b[^=\n]*:(?!=)/m, test: 'just test', install: null },
];

/** The first of each kind of file. */
export async function findOtherTools({ names, read }: ProjectFiles): Promise<readonly OtherTool[]> {
  const found: Sign[] = [];
  for (const sign of SIGNS) {
    const file = [...names].find((name) => sign.file.test(name));
    if (file === undefined || found.some((other) => other.file.source === sign.file.source)) continue;
    if (sign.beside !== undefined && !names.has(sign.beside)) continue;
    if (sign.mentions === undefined || sign.mentions.test((await read(file)) ?? '')) found.push(sign);
  }
  return found.map(({ name, test, install }) => ({ name, test, install }));
}
