import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { promisify } from 'node:util';
import { hasCode, UsageError } from '../../errors.ts';
import { renderJson } from '../../events/index.ts';
import { loadModelKeys } from '../../model/index.ts';
import { loadDescription } from '../../sandbox/index.ts';
import { stateFolder } from '../../thread/index.ts';
import type { Handler, Invocation } from '../command.ts';
import { loadPolicyFile } from '../load-policy-for.ts';
import { print } from '../print.ts';
import { isGiven, textOf } from '../read-options.ts';

/** One thing that belay needs or can use. `required`: without it nothing runs. */
interface Finding {
  name: string;
  works: boolean;
  required: boolean;
  says: string;
  fix: string | null;
}

const GIT_AT_LEAST = [2, 38] as const;

async function examineGit({ io }: Invocation): Promise<Finding> {
  const fix = 'install git 2.38 or newer';
  try {
    const { stdout } = await promisify(execFile)('git', ['--version'], {
      env: { PATH: io.env['PATH'], HOME: '/dev/null' },
    });
    const [major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(stdout) ?? []).slice(1).map(Number);
    const works = major > GIT_AT_LEAST[0] || (major === GIT_AT_LEAST[0] && minor >= GIT_AT_LEAST[1]);
    return { name: 'git', works, required: true, says: stdout.trim(), fix: works ? null : fix };
  } catch (error) {
    return {
      name: 'git',
      works: false,
      required: true,
      says: error instanceof Error ? error.message : String(error),
      fix,
    };
  }
}

async function examineSandbox({ io }: Invocation): Promise<Finding[]> {
  const describeSandbox = await loadDescription();
  const facts = await describeSandbox({ env: io.env });
  return facts.map((fact) => ({ ...fact, name: `sandbox: ${fact.name}` }));
}

async function examineKey(invocation: Invocation): Promise<Finding> {
  const { io, options } = invocation;
  const about = { name: 'model key', required: false };
  try {
    const { policy, path } = await loadPolicyFile(options, io.cwd());
    if (policy.model === null)
      return { ...about, works: true, says: 'the policy names no model: only --model or --replay can run', fix: null };
    const { apiKey, secrets } = await loadModelKeys(policy.model, {
      env: io.env,
      folder: path === null ? io.cwd() : dirname(path),
    });
    return {
      ...about,
      works: true,
      says: `${policy.model.provider}/${policy.model.name}: ${apiKey === null ? 'works without a key' : `the key is there (from ${secrets[0]?.name})`}`,
      fix: null,
    };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return {
      ...about,
      required: true,
      works: false,
      says: error.message,
      fix:
        error.code === 'key'
          ? 'give the key there, or name another source of it in belay.yml: api_key_env, api_key_file, api_key_fd or api_key_command'
          : 'mend belay.yml: belay policy check says where',
    };
  }
}

function examineProxy({ io }: Invocation): Finding {
  const set = [
    'HTTPS_PROXY',
    'https_proxy',
    'HTTP_PROXY',
    'http_proxy',
    'NO_PROXY',
    'no_proxy',
    'NODE_EXTRA_CA_CERTS',
    'SSL_CERT_FILE',
  ].filter((name) => (io.env[name] ?? '') !== '');
  return {
    name: 'network',
    works: true,
    required: false,
    says: set.length === 0 ? 'direct, no proxy or extra CA named' : `from the environment: ${set.join(', ')}`,
    fix: null,
  };
}

async function examineState({ io }: Invocation): Promise<Finding> {
  const dir = stateFolder(io.env);
  for (let folder = dir; ; folder = dirname(folder)) {
    try {
      await access(folder, constants.W_OK);
      return { name: 'state folder', works: true, required: false, says: dir, fix: null };
    } catch (error) {
      const missing = hasCode(error, 'ENOENT') && folder !== dirname(folder);
      if (!missing)
        return {
          name: 'state folder',
          works: false,
          required: false,
          says: `${folder} cannot be written`,
          fix: 'set BELAY_HOME to a folder that can be written, or run with --ephemeral',
        };
    }
  }
}

function examineTerminal({ io }: Invocation): Finding {
  const says = `stdout is ${io.stdout.isTTY ? 'a terminal (text)' : 'no terminal (jsonl)'}, stderr is ${io.stderr.isTTY ? 'a terminal (status line)' : 'no terminal (plain lines)'}`;
  return { name: 'terminal', works: true, required: false, says, fix: null };
}

/** `belay doctor`: 0 when everything needed works, else 1. */
export const examineMachine: Handler = async (invocation) => {
  const { io, options } = invocation;
  const workspace = textOf(options, 'workspace');
  const here =
    workspace === null
      ? invocation
      : {
          ...invocation,
          io: {
            ...io,
            stdin: io.stdin,
            stdout: io.stdout,
            stderr: io.stderr,
            env: io.env,
            cwd: () => resolve(io.cwd(), workspace),
          },
        };
  const node: Finding = { name: 'node', works: true, required: true, says: process.version, fix: null };
  const findings = [
    node,
    await examineGit(here),
    ...(await examineSandbox(here)),
    await examineKey(here),
    examineProxy(here),
    await examineState(here),
    examineTerminal(here),
  ];
  const text = isGiven(options, 'json') ? renderJson(findings) : findings.map(render).join('');
  await print(io.stdout, text);
  return findings.every((finding) => finding.works || !finding.required) ? 0 : 1;
};

function render({ name, works, required, says, fix }: Finding): string {
  const mark = works ? 'ok  ' : required ? 'FAIL' : 'note';
  return `${mark} ${name}: ${says}\n${fix === null ? '' : `     fix: ${fix}\n`}`;
}
