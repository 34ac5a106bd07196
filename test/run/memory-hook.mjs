// Preloaded into the CLI of a test: after each hundredth turn, what is alive on the heap, as a line of MEMORY_LOG.
import { appendFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
const log = process.env.MEMORY_LOG;
let turns = 0;

const { write } = process.stdout;
process.stdout.write = function (chunk, ...rest) {
  for (const line of String(chunk).split('\n')) {
    if (!line.startsWith('{"type":"turn.completed"')) continue;
    turns += 1;
    if (turns % 100 !== 0) continue;
    collect();
    appendFileSync(log, `${process.memoryUsage().heapUsed}\n`);
  }
  return write.call(this, chunk, ...rest);
};
