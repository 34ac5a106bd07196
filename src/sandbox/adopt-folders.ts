import { lchownSync, lstatSync, readdirSync } from 'node:fs';
import { isWithin } from './is-within.ts';

/** Gives `folder` to the command user if it lies where `home` does and is belay's own; at its first sight only. */
export type Adoption = (folder: string, home: string) => void;

/**
 * For a root whose temporary folders lie where ids cannot be mapped (a container's overlay): HOME and the clean room, which belay made,
 * are given to the command user. Never what the user gave (`given`). At first sight, because later a command may put a link where a
 * folder was while this walks it.
 */
export function createAdoption(user: { uid: number; gid: number }, given: readonly string[]): Adoption {
  const seen: string[] = [];
  return (folder, home) => {
    if ([...seen, ...given].some((other) => isWithin(other, folder))) return;
    seen.push(folder);
    if (lstatSync(folder).dev === lstatSync(home).dev) adopt(folder, user);
  };
}

const SEPARATOR = Buffer.from('/');

/** Links are given, not followed. Bytes, not text: what setup or the agent left may have any name. */
function adopt(folder: string, { uid, gid }: { uid: number; gid: number }): void {
  const open = [Buffer.from(folder)];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const stat = lstatSync(at);
    if (stat.uid === 0) lchownSync(at, uid, gid);
    if (!stat.isDirectory()) continue;
    for (const name of readdirSync(at, 'buffer')) open.push(Buffer.concat([at, SEPARATOR, name]));
  }
}
