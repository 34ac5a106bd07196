import { spawn } from 'node:child_process';
import { StringDecoder } from 'node:string_decoder';
import { createToken, renderWorkflowCommand } from './workflow-command.ts';

export interface QuarantinedCommand {
  title: string;
  file: string;
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  io: {
    stdout: NodeJS.WritableStream;
    on(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): unknown;
    off(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): unknown;
  };
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/**
 * Runs a program with its output in a folded part of the log in which the runner obeys no command: what a model, a repository
 * or a check prints is text there. Signals are passed on. Resolves to the exit code, or null after a signal.
 */
export async function runQuarantined({ title, file, args, env, io }: QuarantinedCommand): Promise<number | null> {
  const token = createToken();
  io.stdout.write(renderWorkflowCommand('group', {}, title));
  io.stdout.write(renderWorkflowCommand('stop-commands', {}, token));
  let endsLine = true;
  const child = spawn(file, [...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const pass = (signal: NodeJS.Signals) => child.pid !== undefined && child.kill(signal);
  for (const signal of SIGNALS) io.on(signal, pass);
  try {
    for (const stream of [child.stdout, child.stderr]) {
      const disarm = createDisarmer();
      const write = (text: string) => {
        if (text === '') return;
        endsLine = text.endsWith('\n');
        // A log that is read slowly slows the program down; its output is not kept here.
        if (!io.stdout.write(text)) {
          stream.pause();
          io.stdout.once('drain', () => stream.resume());
        }
      };
      stream.on('data', (bytes: Buffer) => write(disarm.take(bytes)));
      stream.on('end', () => write(disarm.end()));
    }
    return await new Promise<number | null>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', resolve);
    });
  } finally {
    for (const signal of SIGNALS) io.off(signal, pass);
    if (!endsLine) io.stdout.write('\n');
    io.stdout.write(`::${token}::\n`);
    io.stdout.write(renderWorkflowCommand('endgroup', {}, ''));
  }
}

/** The log viewer draws `##[error]` and the like whether or not the runner obeys commands: the mark is taken apart. */
function createDisarmer() {
  const decoder = new StringDecoder('utf8');
  let held = '';
  const take = (text: string, isLast: boolean) => {
    const whole = held + text;
    const end = isLast ? whole.length : whole.length - (/#{1,2}$/.exec(whole)?.[0].length ?? 0);
    held = whole.slice(end);
    return whole.slice(0, end).replaceAll('##[', '## [');
  };
  return {
    take: (bytes: Buffer) => take(decoder.write(bytes), false),
    end: () => take(decoder.end(), true),
  };
}
