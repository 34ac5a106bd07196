import { resolve } from 'node:path';
import { UsageError } from '../../errors.ts';
import { oneLine, renderJson } from '../../events/index.ts';
import {
  explainHost,
  loadExplanations,
  loadPolicy,
  renderHostExplanation,
  renderPolicy,
  unsupportedKeys,
} from '../../policy/index.ts';
import type { Handler, Invocation } from '../command.ts';
import { findPolicyFile, loadPolicyFile } from '../load-policy-for.ts';
import { print } from '../print.ts';
import { isGiven } from '../read-options.ts';

/** `belay policy check [FILE]`: validates the file as it is, committed or not. */
async function check({ io, options }: Invocation, subject: string | undefined): Promise<number> {
  const cwd = io.cwd();
  const source =
    subject === undefined
      ? await findPolicyFile(options, cwd)
      : ({ kind: 'file', path: resolve(cwd, subject), source: subject } as const);
  const loaded = await loadPolicy(source);
  await print(io.stdout, `${loaded.source}: valid, sha256 ${loaded.sha256}\n`);
  for (const key of unsupportedKeys(loaded))
    await print(
      io.stderr,
      `belay: ${key.position ?? loaded.source}: ${key.key}: ${key.reason}; belay run refuses it\n`,
    );
  return 0;
}

/** Programs are called by their files' names, and some of these endings are top-level domains as well. */
const PROGRAM_FILE = /\.(bash|bat|bin|cjs|cmd|exe|js|jar|lua|mjs|out|phar|php|pl|ps1|py|rb|run|sh|ts|zsh)$/i;
const LOOKS_LIKE_HOST = /^(https?:\/\/\S+|[\w-]+(\.[\w-]+)*\.[a-z]{2,})$/i;

export const policyAction: Handler = async (invocation) => {
  const { io, options, words } = invocation;
  const [action = '', subject] = words;
  if (action === 'check') return check(invocation, subject);
  if (action === 'show') {
    if (subject !== undefined) throw new UsageError('belay policy show takes no argument; name a file with --policy');
    const loaded = await loadPolicyFile(options, io.cwd());
    await print(io.stdout, renderPolicy(loaded, { format: isGiven(options, 'json') ? 'json' : 'text' }));
    return 0;
  }
  if (action === 'explain') {
    if (subject === undefined)
      throw new UsageError("belay policy explain needs a command or host:port: belay policy explain 'git push'");
    const { policy } = await loadPolicyFile(options, io.cwd());
    // A command's first word has no colon: `host:port` asks for a connection.
    const connection = explainHost(subject, policy);
    if (connection !== null) {
      const text = isGiven(options, 'json') ? renderJson(connection) : renderHostExplanation(connection);
      await print(io.stdout, text);
      return 0;
    }
    if (LOOKS_LIKE_HOST.test(subject) && (subject.includes('://') || !PROGRAM_FILE.test(subject)))
      await print(
        io.stderr,
        `belay: ${oneLine(subject)} is explained as a command; a connection is HOST:PORT, such as example.org:443\n`,
      );
    const { explainCommand, renderExplanation } = await loadExplanations();
    const explanation = explainCommand(subject, policy);
    await print(io.stdout, isGiven(options, 'json') ? renderJson(explanation) : renderExplanation(explanation, policy));
    return 0;
  }
  throw new UsageError(
    `belay policy: there is no action ${JSON.stringify(oneLine(action, 80))}; one of check, show, explain`,
  );
};
