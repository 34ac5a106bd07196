import * as fs from 'node:fs';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { applyPatch } from '../../src/tools/apply-patch.ts';
import { createRoom, readTree } from './room.ts';

const cases = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../../shared/apply-patch-scenarios');
const names = fs.existsSync(cases)
  ? fs.readdirSync(cases).filter((name) => fs.existsSync(path.join(cases, name, 'patch.txt')))
  : [];

/** Where the public case leaves a half-applied patch, we leave the tree as it was. */
const ATOMIC = new Set(['015_failure_after_partial_success_leaves_changes']);
const REJECTED = /_(rejects|requires|failure)_|_fails$/;

describe.skipIf(names.length === 0)('public cases of the patch format', () => {
  test.each(names)('%s ends in its tree', async (name) => {
    const room = createRoom();
    const input = path.join(cases, name, 'input');
    if (fs.existsSync(input)) fs.cpSync(input, room.dir, { recursive: true });
    const before = room.tree();
    const patch = fs.readFileSync(path.join(cases, name, 'patch.txt'), 'utf8');

    const outcome = await room.call(applyPatch, { patch });

    expect(room.tree()).toEqual(ATOMIC.has(name) ? before : readTree(path.join(cases, name, 'expected')));
    expect(outcome.status).toBe(REJECTED.test(name) ? 'failed' : 'completed');
  });
});
