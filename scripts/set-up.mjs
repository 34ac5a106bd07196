// What a fresh clone needs before the demo and the tests: packages, a build, and the programs of the sandbox.
// Does only what is missing, and says so in one line each on stderr. Node built-ins only: nothing is installed yet.
import { spawnSync } from 'node:child_process';
import { readdirSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const checkout = dirname(dirname(fileURLToPath(import.meta.url)));

/** What commands run in, and the package it comes with. */
const PROGRAMS = { bwrap: 'bubblewrap', bash: 'bash', perl: 'perl' };
const INSTALLERS = [
  { name: 'apt-get', install: ['apt-get', 'install', '-y', '--no-install-recommends'], refresh: ['apt-get', 'update'] },
  { name: 'dnf', install: ['dnf', 'install', '-y'], refresh: null },
  { name: 'apk', install: ['apk', 'add'], refresh: ['apk', 'update'] },
];

/** Makes `root` ready. Returns null, or the one sentence that says what a person has to do. */
export function setUp(root = checkout) {
  return setUpPackages(root) ?? installPrograms();
}

/** Packages and the build alone: nothing outside of `root` changes. */
export function setUpPackages(root = checkout) {
  return checkNode() ?? checkGit() ?? installPackages(root) ?? build(root);
}

/** For scripts: `setUp`, or the sentence on stderr and exit code 1. */
export function setUpOrExit() {
  const problem = setUp();
  if (problem === null) return;
  console.error(problem);
  process.exit(1);
}

function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const fits = major >= 24 || (major === 22 && minor >= 12) || (major === 20 && minor >= 19);
  return fits ? null : `belay needs Node 20.19, 22.12 or 24 and later; this is ${process.versions.node}.`;
}

function checkGit() {
  const { stdout } = run(['git', '--version']);
  const [, major, minor] = /(\d+)\.(\d+)/.exec(stdout ?? '') ?? [];
  if (major === undefined) return 'belay needs git 2.38 or later: install it and start again.';
  const fits = Number(major) > 2 || (Number(major) === 2 && Number(minor) >= 38);
  return fits ? null : `belay needs git 2.38 or later; this is ${major}.${minor}.`;
}

function installPackages(root) {
  const installed = modified(join(root, 'node_modules/.package-lock.json'));
  if (installed >= modified(join(root, 'package-lock.json'))) return null;
  return step('installing packages (npm ci)', ['npm', 'ci', '--include=dev'], root);
}

function build(root) {
  const sources = [
    'src',
    'scripts',
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'tsconfig.types.json',
    'node_modules/.package-lock.json',
  ];
  const newest = Math.max(...sources.map((path) => newestIn(join(root, path))));
  if (modified(join(root, 'dist/cli.js')) >= newest) return null;
  return step('building (node scripts/build.mjs)', [process.execPath, 'scripts/build.mjs', '--no-types'], root);
}

function installPrograms() {
  if (process.platform !== 'linux') return null;
  const packages = Object.entries(PROGRAMS).flatMap(([program, name]) => (exists(program) ? [] : [name]));
  if (packages.length === 0) return null;
  const wanted = packages.join(' and ');
  const installer = INSTALLERS.find(({ name }) => exists(name));
  if (!installer) return `belay's sandbox needs ${wanted}: install it from your distribution and start again.`;
  const install = [...installer.install, ...packages];
  const isRoot = process.getuid?.() === 0;
  if (!isRoot && run(['sudo', '-n', 'true']).status !== 0) {
    return `belay's sandbox needs ${wanted}: run \`sudo ${install.join(' ')}\` and start again.`;
  }
  const prefix = isRoot ? [] : ['sudo', '-n'];
  console.error(`set-up: installing ${wanted} (${[...prefix, ...install].join(' ')})`);
  const first = run([...prefix, ...install]);
  if (first.status === 0) return null;
  if (!installer.refresh) return failure(install.join(' '), first);
  const refreshed = run([...prefix, ...installer.refresh]);
  if (refreshed.status !== 0) return failure(installer.refresh.join(' '), refreshed);
  const second = run([...prefix, ...install]);
  return second.status === 0 ? null : failure(install.join(' '), second);
}

function step(title, command, cwd) {
  console.error(`set-up: ${title}`);
  const done = run(command, cwd);
  return done.status === 0 ? null : failure(command.join(' '), done);
}

function failure(command, { status, signal, error, stdout, stderr }) {
  const output = `${stdout ?? ''}${stderr ?? ''}`.trimEnd();
  return `${output}${output ? '\n' : ''}set-up failed: \`${command}\` ended with ${error?.message ?? signal ?? `exit code ${status}`}.`;
}

/** Quiet unless it fails: the output is kept for `failure`. */
function run([file, ...args], cwd) {
  return spawnSync(file, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 2 ** 28 });
}

function exists(program) {
  return run([program, '--version']).error?.code !== 'ENOENT';
}

/** Milliseconds; -Infinity where there is nothing. */
function modified(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.NEGATIVE_INFINITY;
}

/** The newest time in a file or a folder with all below it. A folder's own time tells of files that went away. */
function newestIn(path) {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat?.isDirectory()) return stat?.mtimeMs ?? Number.NEGATIVE_INFINITY;
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => newestIn(join(path, name))));
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) setUpOrExit();
