import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { acquireLock, lockWorkspace } from '../../src/thread/index.ts';
import { identifySelf } from '../../src/thread/process-identity.ts';
import { tempFolder } from '../events/temp-folder.ts';

const FIXTURE = fileURLToPath(new URL('./fixtures/hold-lock.mjs', import.meta.url));
/** Of Linux; elsewhere less. */
const MOST_PATH_BYTES = 4095;
const onLinux = process.platform === 'linux';

async function startHolder(path: string): Promise<{ child: ChildProcess; said: string }> {
  const child = spawn(process.execPath, ['--import', 'tsx', FIXTURE, path], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const lines = createInterface({ input: child.stdout ?? process.stdin });
  const [said] = await once(lines, 'line');
  return { child, said: String(said) };
}

async function take(path: string) {
  const outcome = await acquireLock({ path, owner: 'me' });
  if (outcome.kind === 'acquired') onTestFinished(outcome.release);
  return outcome;
}

/** A lock as another process would have left it. */
async function leave(path: string, differs: object): Promise<void> {
  const claim = { owner: 'other', since: '2030-01-01T00:00:00.000Z', ...(await identifySelf()), ...differs };
  mkdirSync(path);
  for (const name of ['0123456789', '0123456789.held']) writeFileSync(join(path, name), JSON.stringify(claim));
}

describe('acquireLock', () => {
  it('keeps a second holder out until the first has released', async () => {
    const folder = tempFolder();
    const path = join(folder, 'lock');
    const one = await acquireLock({ path, owner: 'one' });
    expect(await acquireLock({ path, owner: 'two' })).toEqual({
      kind: 'held',
      by: { pid: process.pid, host: expect.any(String), owner: 'one', since: expect.stringMatching(/Z$/) },
    });
    if (one.kind === 'acquired') await one.release();
    expect(readdirSync(folder)).toEqual([]);
    expect((await take(path)).kind).toBe('acquired');
    expect(readdirSync(folder)).toEqual(['lock']);
  });

  it.skipIf(!onLinux)('leaves nothing where the claim cannot be written', async () => {
    const folder = tempFolder();
    let parent = folder;
    const room = () => MOST_PATH_BYTES - 20 - Buffer.byteLength(parent);
    // The folder's own path is just short enough, that of a claim in it is not.
    while (room() > 0) {
      parent = join(parent, 'x'.repeat(Math.min(200, room())));
      if (room() > 0) mkdirSync(parent);
    }
    await expect(acquireLock({ path: parent, owner: 'me' })).rejects.toMatchObject({ code: 'ENAMETOOLONG' });
    expect(readdirSync(dirname(parent))).toEqual([]);
    expect((await take(join(folder, 'lock'))).kind).toBe('acquired');
  });

  it('is held by a living process and free once that was killed', async () => {
    const path = join(tempFolder(), 'lock');
    const { child, said } = await startHolder(path);
    expect(said).toBe('acquired');
    expect(await take(path)).toMatchObject({ kind: 'held', by: { pid: child.pid, owner: 'fixture' } });
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect((await take(path)).kind).toBe('acquired');
  });

  it('is free once its holder has gone by itself', async () => {
    const path = join(tempFolder(), 'lock');
    const { child } = await startHolder(path);
    child.stdin?.end();
    await once(child, 'exit');
    expect(existsSync(path)).toBe(false);
  });

  it.skipIf(!onLinux)('takes over from a recycled process id and from another boot', async () => {
    const path = join(tempFolder(), 'lock');
    await leave(path, { started: '1' });
    expect((await take(path)).kind).toBe('acquired');
    const next = join(tempFolder(), 'lock');
    await leave(next, { boot: 'another' });
    expect((await take(next)).kind).toBe('acquired');
  });

  it.skipIf(!onLinux)('trusts a holder that is out of sight until it has been silent', async () => {
    const path = join(tempFolder(), 'lock');
    await leave(path, { namespace: 'pid:[1]', pid: 999_999_999 });
    expect((await take(path)).kind).toBe('held');
    const longAgo = new Date(Date.now() - 600_000);
    utimesSync(join(path, '0123456789'), longAgo, longAgo);
    expect((await take(path)).kind).toBe('acquired');
  });

  it('takes half a claim for a living one while it is fresh', async () => {
    const path = join(tempFolder(), 'lock');
    mkdirSync(path);
    for (const name of ['0123456789', '0123456789.held']) writeFileSync(join(path, name), '{"pid"');
    expect(await take(path)).toMatchObject({ kind: 'held', by: { owner: 'unknown' } });
  });

  it('gives a stale lock to exactly one of many', async () => {
    for (let round = 0; round < 12; round++) {
      const folder = tempFolder();
      const path = join(folder, 'lock');
      await leave(path, { pid: 999_999_999 });
      const outcomes = await Promise.all(
        Array.from({ length: 12 }, async (_, i) => {
          // One after the other, so that some look while others take over.
          for (let step = 0; step < (i * round) % 23; step++) await new Promise(setImmediate);
          return take(path);
        }),
      );
      expect(outcomes.filter((outcome) => outcome.kind === 'acquired')).toHaveLength(1);
      expect(readdirSync(folder)).toEqual(['lock']);
    }
  });

  it('never has two holders, whoever comes and goes', async () => {
    const path = join(tempFolder(), 'lock');
    let holders = 0;
    let taken = 0;
    const comeAndGo = async (seed: number) => {
      for (let round = 0; round < 15; round++) {
        for (let step = 0; step < (seed * round) % 11; step++) await new Promise(setImmediate);
        const outcome = await acquireLock({ path, owner: String(seed) });
        if (outcome.kind === 'held') continue;
        taken++;
        expect(++holders).toBe(1);
        for (let step = 0; step < seed % 5; step++) await new Promise(setImmediate);
        holders--;
        await outcome.release();
      }
    };
    await Promise.all([1, 2, 3, 4, 5, 6].map(comeAndGo));
    expect(taken).toBeGreaterThan(1);
    expect(existsSync(path)).toBe(false);
  });

  it('is released once, and leaves the lock of the next holder alone', async () => {
    const path = join(tempFolder(), 'lock');
    const one = await acquireLock({ path, owner: 'one' });
    if (one.kind === 'acquired') await one.release();
    await take(path);
    if (one.kind === 'acquired') await one.release();
    expect((await take(path)).kind).toBe('held');
  });
});

describe('lockWorkspace', () => {
  it('keeps two runs off one workspace, whatever the path is called', async () => {
    const [stateDir, workspace] = [tempFolder(), tempFolder()];
    const one = await lockWorkspace({ stateDir, workspace, owner: 'r_1' });
    expect(
      (
        await lockWorkspace({
          stateDir,
          workspace: join(workspace, '..', workspace.split('/').at(-1) ?? ''),
          owner: 'r_2',
        })
      ).kind,
    ).toBe('held');
    const other = await lockWorkspace({ stateDir, workspace: tempFolder(), owner: 'r_3' });
    expect([one.kind, other.kind]).toEqual(['acquired', 'acquired']);
    for (const lock of [one, other]) if (lock.kind === 'acquired') await lock.release();
    expect(readdirSync(join(stateDir, 'locks'))).toEqual([]);
  });

  it('finds another place when the state folder cannot be written', async () => {
    const [stateDir, workspace] = [tempFolder(), tempFolder()];
    mkdirSync(stateDir, { recursive: true });
    writeFileSync(join(stateDir, 'file'), '');
    const blocked = join(stateDir, 'file', 'state');
    const one = await lockWorkspace({ stateDir: blocked, workspace, owner: 'r_1' });
    expect(one.kind).toBe('acquired');
    expect((await lockWorkspace({ stateDir: blocked, workspace, owner: 'r_2' })).kind).toBe('held');
    if (one.kind === 'acquired') await one.release();
  });
});
