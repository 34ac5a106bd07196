import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { ActionRequest } from './read-inputs.ts';

/** Where a run leaves what the action hands on: where an input says, else in a folder of its own outside of the checkout. */
export interface ActionFiles {
  goal: string;
  events: string;
  result: string;
  patch: string;
  message: string;
  report: string;
  page: string;
  thread: string;
}

export function placeFiles(request: ActionRequest, folder: string, cwd: string): ActionFiles {
  const given = (option: string, name: string) => {
    const [path] = request.options.get(option) ?? [];
    return path === undefined ? join(folder, name) : resolve(cwd, path);
  };
  return {
    goal: join(folder, 'goal.md'),
    events: given('events', 'events.jsonl'),
    result: given('result', 'result.json'),
    patch: given('patch', 'change.patch'),
    message: given('message', 'message.txt'),
    report: join(folder, 'report.md'),
    page: join(folder, 'report.html'),
    thread: join(folder, 'thread.belay'),
  };
}

/** The path, or an empty text where the run left no such file. */
export function pathIfThere(path: string): string {
  return existsSync(path) ? path : '';
}
