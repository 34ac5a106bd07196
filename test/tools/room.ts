import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { onTestFinished } from 'vitest';
import type { Tool, ToolCallContext, ToolOutcome, ToolPorts } from '../../src/tools/index.ts';

export type Files = Record<string, string | Buffer>;

/** Absolute real path of a new folder, gone after the test. */
export function temporaryFolder(): string {
  const dir = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'belay-tools-')));
  onTestFinished(() => fs.rmSync(dir, { recursive: true, force: true }));
  return dir;
}

export function writeFiles(dir: string, files: Files): void {
  for (const [name, content] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(dir, name)), { recursive: true });
    fs.writeFileSync(path.join(dir, name), content);
  }
}

/** Every entry below a folder: files as text (`x:` before an executable), links as `-> target`, folders that are empty as `/`. */
export function readTree(dir: string): Record<string, string> {
  const tree: Record<string, string> = {};
  const visit = (folder: string): void => {
    const names = fs.readdirSync(folder);
    if (names.length === 0 && folder !== dir) tree[`${path.relative(dir, folder)}/`] = '/';
    for (const name of names) {
      const full = path.join(folder, name);
      const stat = fs.lstatSync(full);
      if (stat.isDirectory()) {
        if (name !== '.git') visit(full);
      } else if (stat.isSymbolicLink()) tree[path.relative(dir, full)] = `-> ${fs.readlinkSync(full)}`;
      else if (stat.isFile()) {
        tree[path.relative(dir, full)] = `${stat.mode & 0o100 ? 'x:' : ''}${fs.readFileSync(full, 'latin1')}`;
      } else tree[path.relative(dir, full)] = '(special)';
    }
  };
  visit(dir);
  return tree;
}

export function git(dir: string, ...args: string[]): string {
  const identity = ['-c', 'user.name=t', '-c', 'user.email=t@localhost', '-c', 'init.defaultBranch=main'];
  return execFileSync('git', [...identity, ...args], { cwd: dir, encoding: 'utf8' });
}

export interface Called extends ToolOutcome {
  output: string;
}

export interface Room {
  dir: string;
  ports: ToolPorts;
  tree(): Record<string, string>;
  call<Input>(tool: Tool<Input>, input: Input, signal?: AbortSignal): Promise<Called>;
}

/** A workspace on disk with ports that do nothing but what the test gives. */
export function createRoom(files: Files = {}, ports: Partial<ToolPorts> & { outputBytes?: number } = {}): Room {
  const dir = temporaryFolder();
  writeFiles(dir, files);
  const { outputBytes = 16_384, ...given } = ports;
  const all = {
    workspace: dir,
    root: dir,
    policy: { limits: { outputBytes, commandTimeMs: 5_000 } },
    runCommand: () => Promise.reject(new Error('no commands here')),
    readOutput: () => Promise.resolve(null),
    access: () => ({ hidden: false, protectedBy: null }),
    ...given,
  } as unknown as ToolPorts;
  return {
    dir,
    ports: all,
    tree: () => readTree(dir),
    call: async (tool, input, signal = new AbortController().signal) => {
      const chunks: Buffer[] = [];
      const context: ToolCallContext = {
        ports: all,
        output: { write: (chunk) => void chunks.push(Buffer.from(chunk)) },
        signal,
      };
      const outcome = await tool.execute(input, context);
      return { ...outcome, output: Buffer.concat(chunks).toString() };
    },
  };
}
