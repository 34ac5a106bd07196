import { relative, resolve, sep } from 'node:path';
import { createTranscript, renderFirstMessage, SYSTEM_PROMPT, type Transcript } from '../context/index.ts';
import { RunBlockedError } from '../errors.ts';
import { type FileChange, parseJson } from '../events/index.ts';
import type { LoopPorts } from '../loop/index.ts';
import { createRequestDigest } from '../model/index.ts';
import { createMatcher, loadDecide } from '../policy/index.ts';
import { isWithin } from '../sandbox/index.ts';
import type { ThreadPast } from '../thread/index.ts';
import { type Finish, type Tool, type ToolPorts, toolSpecs } from '../tools/index.ts';
import { isUnrecordable, type TreeId, type Workspace } from '../workspace/index.ts';
import { askApproval } from './approval.ts';
import { buildEnvironment } from './environment.ts';
import { planAgentMounts } from './mounts.ts';
import type { RunContext } from './run-context.ts';
import { watchTouchedPaths } from './touched-paths.ts';

export interface AgentOptions {
  context: RunContext;
  tools: readonly Tool[];
  home: string;
  agentDeadlineMs: number;
  takeSteering(): readonly string[];
  /** Tree that the first turn starts from. */
  startTree: string;
  /** What earlier runs of the thread left; null in its first. */
  past: ThreadPast | null;
}

/** What the agent may touch: the fence, its tools' effects, its context. */
export async function createAgentPorts(options: AgentOptions): Promise<LoopPorts> {
  const decide = await loadDecide();
  const { context } = options;
  const { policy, thread, workspace } = context;
  const transcript = await beginTranscript(options);
  let lastTree = options.past?.tree ?? options.startTree;
  const touched = watchTouchedPaths({ settled: policy.services.length === 0 });
  let turn = 0;
  return {
    model: context.model,
    tools: options.tools,
    toolPorts: createToolPorts(options, () => turn),
    policy,
    transcript,
    emit(body) {
      touched.see(body);
      if (body.type === 'turn.started') turn = body.turn;
      return context.emit(body);
    },
    nextItemId: context.nextItemId,
    now: () => performance.now(),
    decide: (action) =>
      action.kind === 'command'
        ? decide(action, policy)
        : decide({ kind: 'write', path: fromRoot(context, action.path) }, policy),
    async snapshot() {
      const tree = await snapshotOfAgent(workspace, touched.take());
      const changes: readonly FileChange[] = tree === lastTree ? [] : await workspace.changedPaths(lastTree, tree);
      lastTree = tree;
      return { tree, changes };
    },
    openOutput: () => thread.openOutput(),
    redactStream: () => context.redactor.redactStream(),
    refuseOutput: (finish) => refuseOutput(finish, context),
    movedTo: options.past === null ? null : movedTo(workspace, options.past),
    takeSteering: options.takeSteering,
    past: options.past,
    noteCallEnd: async (note) => void (await thread.appendNote(note)),
    askApproval: (about) => askApproval(context, about),
    requestDigest: createRequestDigest(),
    limits: policy.limits,
    elapsedMs: context.elapsedMs,
    agentDeadlineMs: options.agentDeadlineMs,
  };
}

/** A name or a mode that cannot be recorded was not there at the start. */
async function snapshotOfAgent(workspace: Workspace, touched: Parameters<Workspace['snapshot']>[0]): Promise<TreeId> {
  try {
    return await workspace.snapshot(touched);
  } catch (error) {
    if (!isUnrecordable(error)) throw error;
    throw new RunBlockedError('policy_violation', `the agent's change cannot be recorded: ${error.message}`, error);
  }
}

/** What the model has to be told of where it works now, or null. */
function movedTo({ root, dir }: RunContext['workspace'], past: ThreadPast): string | null {
  const text = `The workspace is ${dir} from here on. It was somewhere else before, where paths that were told so far may point.`;
  const last = past.notes.findLast((note) => note.kind === 'message' && note.source === 'workspace');
  if (last?.kind !== 'message') return past.root === null || past.root === root ? null : text;
  return last.message.role === 'user' && last.message.text === text ? null : text;
}

/** A path as the model wrote it (relative to the workspace), as the policy's globs see it (relative to the root). */
function fromRoot(context: RunContext, path: string): string {
  return relative(context.workspace.root, resolve(context.workspace.dir, path)).split(sep).join('/');
}

function createToolPorts({ context, home }: AgentOptions, currentTurn: () => number): ToolPorts {
  const { policy, workspace, thread } = context;
  const hides = createMatcher(policy.workspace.hide);
  const protects = createMatcher(policy.workspace.protect);
  const env = buildEnvironment([policy.sandbox.env], context.request.environment);
  const agentMounts = planAgentMounts(context.mounts);
  return {
    workspace: workspace.dir,
    root: workspace.root,
    policy,
    async runCommand(command, signal) {
      const watch = context.networkLog.watch({ phase: 'agent', turn: currentTurn() });
      const { network } = policy.sandbox;
      const mounts = await agentMounts();
      const end = await context.sandbox.run(
        { ...command, env, mounts, home, network, onNetwork: watch.onNetwork, moreFollow: true },
        signal,
      );
      return { ...end, denied: await watch.told() };
    },
    async readOutput(outputId, range) {
      const found = await thread.readOutput(outputId, range);
      return found === null || 'fault' in found
        ? found
        : { text: found.bytes.toString('utf8'), totalBytes: found.totalBytes };
    },
    access: (path) => ({
      hidden:
        hides(path) !== null ||
        // git's own files are for git, in the fence, which shows them without credentials.
        path.split('/').includes('.git') ||
        context.mounts.alsoHidden.some((covered) => isWithin(covered, resolve(workspace.root, path))),
      protectedBy: protects(path),
    }),
  };
}

/** With an output schema, `finish` has to bring an output (or a text that is one). */
function refuseOutput(finish: Finish, { request }: RunContext): string | null {
  if (request.outputSchema === null) return null;
  const fault = request.outputSchema.faultOf(outputOf(finish));
  return fault === null
    ? null
    : `the output does not satisfy the schema: ${fault}. Call finish again with a corrected output.`;
}

/** The output of a `finish`; an answer without a call gives its text. */
export function outputOf(finish: Finish): unknown {
  if (finish.output !== undefined && finish.output !== null) return finish.output;
  try {
    return parseJson(finish.summary);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

async function beginTranscript({ context, tools, past }: AgentOptions): Promise<Transcript> {
  const { policy, request, workspace, thread } = context;
  const transcript = createTranscript({
    system: SYSTEM_PROMPT,
    tools: toolSpecs(tools),
    cacheKey: thread.id,
    contextWindow: context.model.contextWindow,
    softenAt: policy.context.softenAt,
    compactAt: policy.context.compactAt,
    record: (note) => thread.appendNote(note),
    notes: past?.notes ?? [],
  });
  await thread.appendNote({
    kind: 'prefix',
    system: SYSTEM_PROMPT,
    tools: toolSpecs(tools).map((tool) => JSON.stringify(tool)),
  });
  if (transcript.messages.length > 0) return transcript;
  const { network } = policy.sandbox;
  const first = renderFirstMessage({
    goal: request.goal,
    workspace: workspace.dir,
    checks: policy.verify.checks.map(({ name, run }) => ({ name, run })),
    write: policy.workspace.write,
    protect: [],
    network: network.mode === 'none' ? 'none' : `only ${network.hosts.join(', ')}, through the proxy in HTTPS_PROXY`,
    readOnly: policy.sandbox.mode === 'read-only',
    limits: policy.limits,
    instructions: context.instructions.filter((file) => file.usedBytes > 0),
    references: request.references,
    outputSchema: request.outputSchema?.text ?? null,
  });
  await transcript.addUser(first.text, 'goal', first.pieces);
  return transcript;
}
