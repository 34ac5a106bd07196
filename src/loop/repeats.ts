import { createHash } from 'node:crypto';

/** Counts how often the same call came to the same result in a row. */
export interface RepeatCounter {
  /** Returns the length of the row that this call ends. */
  count(call: { name: string; input: string; result: string }): number;
}

export function createRepeatCounter(): RepeatCounter {
  let last = '';
  let row = 0;
  return {
    count(call) {
      const digest = createHash('sha256')
        .update(JSON.stringify([call.name, call.input, call.result]))
        .digest('hex');
      row = digest === last ? row + 1 : 1;
      last = digest;
      return row;
    },
  };
}
