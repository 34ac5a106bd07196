import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expand, holds, type Scope, type Value } from './expression.ts';
import { type LogCommand, readCommandFile, readRunnerLog } from './runner-log.ts';
import { loadAction, ROOT, type Step } from './workflow-file.ts';

/** One machine of a runner: it runs the steps of a job as GitHub's does. */
export interface Runner {
  /** The job's checkout: `GITHUB_WORKSPACE`. */
  workspace: string;
  temp: string;
  /** What every step sees, beside what the runner sets. Grows by `GITHUB_ENV`. */
  env: Record<string, string>;
  /** Folders that `GITHUB_PATH` added, the latest first. */
  path: string[];
  github: Record<string, Value>;
  /** Whom steps run as; null: whoever runs the test. */
  uid: number | null;
  /** Sees the output of a script as it grows, and may signal what was started, as the runner of a cancelled job does. */
  watch?: (output: string, kill: (signal: NodeJS.Signals) => void) => void;
  /** What stands in for an action of somebody else, by the name before its `@`. */
  actions: Readonly<Record<string, (call: ActionCall) => Record<string, string>>>;
}

export interface ActionCall {
  runner: Runner;
  with: Readonly<Record<string, string>>;
}

export interface StepEnd {
  conclusion: 'success' | 'failure' | 'skipped';
  outputs: Record<string, string>;
}

export interface StepsEnd {
  failed: boolean;
  steps: Record<string, StepEnd>;
  /** Names of the steps that ran, in order. */
  ran: string[];
  commands: LogCommand[];
  text: string[];
  /** Everything written to `GITHUB_STEP_SUMMARY`. */
  summary: string;
  exitCodes: Record<string, number | null>;
}

interface Place {
  contexts: Readonly<Record<string, Value>>;
  env: Readonly<Record<string, string>>;
  /** `GITHUB_ACTION_PATH`. */
  actionPath: string | null;
}

export async function runSteps(runner: Runner, steps: readonly Step[], place: Place): Promise<StepsEnd> {
  const end: StepsEnd = { failed: false, steps: {}, ran: [], commands: [], text: [], summary: '', exitCodes: {} };
  for (const step of steps) {
    const scope = (): Scope => ({
      failed: end.failed,
      contexts: {
        ...place.contexts,
        github: runner.github,
        env: { ...runner.env, ...place.env },
        runner: { temp: runner.temp, os: 'Linux' },
        steps: stepsContext(end),
      },
    });
    const name = step.id ?? step.name ?? step.uses ?? step.run ?? '';
    let done: StepEnd = { conclusion: 'skipped', outputs: {} };
    if (holds(step.if, scope())) {
      end.ran.push(name);
      const env = { ...place.env, ...expandAll(step.env, scope()) };
      done =
        step.uses === undefined
          ? await runScript({ runner, step, env, place, end, script: step.run ?? '' })
          : await useAction({ runner, uses: step.uses, with: expandAll(step.with, scope()), env, end });
      if (done.conclusion === 'failure' && step['continue-on-error'] !== 'true') end.failed = true;
    }
    if (step.id !== undefined) end.steps[step.id] = done;
  }
  return end;
}

export function stepsContext({ steps }: StepsEnd): Value {
  return Object.fromEntries(Object.entries(steps).map(([id, one]) => [id, { ...one }]));
}

function expandAll(texts: Readonly<Record<string, string>>, scope: Scope): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, expand(text, scope)]));
}

interface ActionUse {
  runner: Runner;
  uses: string;
  with: Record<string, string>;
  env: Record<string, string>;
  end: StepsEnd;
}

async function useAction({ runner, uses, with: given, env, end }: ActionUse): Promise<StepEnd> {
  const name = uses.slice(0, uses.indexOf('@'));
  const standIn = runner.actions[name];
  if (standIn !== undefined) return { conclusion: 'success', outputs: standIn({ runner, with: given }) };
  if (name !== 'OWNER/belay') throw new Error(`nothing stands in for ${uses}`);
  const action = loadAction();
  for (const input of Object.keys(given)) if (!(input in action.inputs)) throw new Error(`no input ${input}`);
  const inputs = Object.fromEntries(
    Object.entries(action.inputs).map(([key, one]) => [key, given[key] ?? one.default]),
  );
  const inner = await runSteps(runner, action.runs.steps, { contexts: { inputs }, env, actionPath: ROOT });
  end.commands.push(...inner.commands);
  end.text.push(...inner.text);
  end.summary += inner.summary;
  Object.assign(end.exitCodes, inner.exitCodes);
  const scope = { failed: inner.failed, contexts: { steps: stepsContext(inner) } };
  const outputs = Object.entries(action.outputs).map(([key, { value }]) => [key, expand(value, scope)]);
  return { conclusion: inner.failed ? 'failure' : 'success', outputs: Object.fromEntries(outputs) };
}

interface Script {
  runner: Runner;
  step: Step;
  script: string;
  env: Record<string, string>;
  place: Place;
  end: StepsEnd;
}

async function runScript({ runner, step, script, env, place, end }: Script): Promise<StepEnd> {
  const dir = mkdtempSync(join(runner.temp, 'step-'));
  const files = ['GITHUB_OUTPUT', 'GITHUB_ENV', 'GITHUB_PATH', 'GITHUB_STATE', 'GITHUB_STEP_SUMMARY'].map(
    (name) => [name, join(dir, name)] as const,
  );
  for (const [, file] of files) writeFileSync(file, '', { mode: 0o666 });
  const body = join(dir, 'script.sh');
  writeFileSync(body, script);
  for (const path of [dir, ...files.map(([, file]) => file)]) chmodSync(path, 0o777);
  const bash = step.shell === 'bash' ? ['--noprofile', '--norc', '-eo', 'pipefail', body] : ['-e', body];
  const as = runner.uid === null ? [] : ['setpriv', `--reuid=${runner.uid}`, `--regid=${runner.uid}`, '--clear-groups'];
  const [program = '', ...args] = [...as, 'bash', ...bash];
  const cwd = join(runner.workspace, step['working-directory'] ?? '.');
  const { code, output } = await execute(program, args, {
    watch: runner.watch,
    cwd,
    env: {
      ...runner.env,
      PATH: [...runner.path, runner.env['PATH'] ?? ''].join(delimiter),
      ...env,
      ...Object.fromEntries(files),
      GITHUB_WORKSPACE: runner.workspace,
      RUNNER_TEMP: runner.temp,
      ...(place.actionPath === null ? {} : { GITHUB_ACTION_PATH: place.actionPath }),
    },
  });
  const textOf = (name: string) => readFileSync(join(dir, name), 'utf8');
  const log = readRunnerLog(output);
  end.commands.push(...log.commands);
  end.text.push(...log.text);
  end.summary += textOf('GITHUB_STEP_SUMMARY');
  end.exitCodes[step.id ?? step.name ?? script] = code;
  Object.assign(runner.env, readCommandFile(textOf('GITHUB_ENV')));
  runner.path.unshift(
    ...textOf('GITHUB_PATH')
      .split('\n')
      .filter((line) => line !== '')
      .reverse(),
  );
  const told = log.commands.filter(({ name }) => name === 'set-output');
  const outputs = {
    ...Object.fromEntries(told.map(({ properties, message }) => [properties['name'] ?? '', message])),
    ...readCommandFile(textOf('GITHUB_OUTPUT')),
  };
  return { conclusion: code === 0 ? 'success' : 'failure', outputs };
}

function execute(
  program: string,
  args: readonly string[],
  { watch, ...options }: { cwd: string; env: NodeJS.ProcessEnv; watch: Runner['watch'] },
): Promise<{ code: number | null; output: string }> {
  if (!existsSync(options.cwd)) mkdirSync(options.cwd, { recursive: true });
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        watch?.(output, (signal) => child.kill(signal));
      });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
  });
}
