import { type EventBody, type Result, readEvents } from '../../src/events/index.ts';
import { foldReport, type ReportView } from '../../src/report/index.ts';
import { runStarted, sampleResult, WHOLE_RUN, write } from '../events/sample-events.ts';

/** Texts that mean something to a page, a Markdown reader, a runner, a terminal or an XML parser. Each holds the word EVIL. */
export const ATTACKS: readonly string[] = [
  '<script>EVIL()</script><img src=x onerror=EVIL()>\'"&]]>',
  '</style></title></textarea></details><b>EVIL',
  '`` ` ``` EVIL [a](https://evil.example/EVIL) ![b](x) *EVIL* | EVIL | \\| EVIL',
  '@EVIL #1 fixes #EVIL https://evil.example/EVIL www.EVIL.example EVIL@evil.example',
  '```\n\n# EVIL\n~~~\n<details>\n- EVIL',
  '::error::EVIL\n  ::set-output name=EVIL::1\r::EVIL::\n##[error]EVIL\n##vso[EVIL]',
  '\u001b[31mEVIL\u001b[0m \u202eEVIL\u2066 \u0000\u0001\u0007\u009b31m \ufffe\uffff EVIL \u2028::error::EVIL',
  '&lt;EVIL&gt; &#60;EVIL <!-- EVIL --> <![CDATA[ EVIL',
  '\ud83d\ude00 EVIL \\` EVIL ` EVIL \\',
];

/** A run whose every foreign field is the text given. */
export function hostileBodies(text: string, more: Partial<Result> = {}): EventBody[] {
  const evil = text.replaceAll('\0', '');
  const result = sampleResult({
    outcome: 'unverified',
    exit_code: 10,
    reason: text,
    message: text,
    question: text,
    risks: [text],
    review: [{ label: text, paths: [text] }],
    goal: { text, sha256: 'a'.repeat(64) },
    changes: {
      files: [{ path: evil, kind: 'update', added: 1, removed: 2, binary: false }],
      patch: text,
      patch_sha256: 'b'.repeat(64),
      base_commit: 'c'.repeat(40),
      base_dirty: false,
      tree: 'd'.repeat(40),
      tests: [evil],
      dependencies: [{ path: evil, name: text, from: text, to: text }],
      restored: true,
    },
    checks: [
      {
        name: text,
        command: text,
        required: true,
        baseline: 'passed',
        final: 'failed',
        classification: 'regressed',
        exit_code: 1,
        duration_ms: 5,
        output_sha256: 'e'.repeat(64),
        output_tail: text,
        tests: null,
        reason: text,
      },
    ],
    denials: [{ action: text, rule: text, reason: text }],
    policy: { source: text, sha256: 'f'.repeat(64) },
    sandbox: { tier: text, network: text, uid: 1, reason: text },
    model: { provider: text, name: text },
    ...more,
  });
  const turn = WHOLE_RUN.find((body) => body.type === 'turn.completed');
  if (turn?.type !== 'turn.completed') throw new Error('the sample has no turn');
  const item = { status: 'completed', duration_ms: 1 } as const;
  const agent = { type: 'item.completed', turn: 1, phase: 'agent' } as const;
  return [
    { ...runStarted, goal: result.goal, model: result.model, policy: result.policy, belay_version: text } as EventBody,
    { type: 'turn.started', turn: 1, attempt: 1 },
    { ...agent, item: { ...item, id: 'i0', type: 'agent_message', text } },
    { ...agent, item: { ...item, id: 'i1', type: 'reasoning', text } },
    {
      ...agent,
      item: { ...item, id: 'i2', type: 'command_execution', command: text, aggregated_output: text, exit_code: 1 },
    },
    {
      ...agent,
      item: { ...item, id: 'i3', type: 'file_change', changes: [{ path: text, kind: 'add' }], input: { patch: text } },
    },
    {
      ...agent,
      item: { ...item, id: 'i4', type: 'tool_call', summary: text, output: text, input: { [text]: text, b: 1 } },
    },
    { ...agent, item: { ...item, id: 'i5', type: 'mcp_tool_call', server: text, arguments: [text], result: text } },
    { ...agent, item: { ...item, id: 'i6', type: 'todo_list', items: [{ text, completed: true }] } },
    {
      ...agent,
      item: { ...item, id: 'i7', type: 'denial', action: text, rule: text, reason: text, status: 'declined' },
    },
    { ...agent, item: { ...item, id: 'i8', type: 'error', message: text } },
    { type: 'error', code: text, message: text },
    { ...turn, changes: [{ path: text, kind: 'update' }] },
    { type: 'run.completed', result: { ...result, usage: turn.total_usage } },
  ];
}

export async function viewOf(bodies: readonly EventBody[]): Promise<ReportView> {
  const { lines } = await write(bodies);
  return foldReport(readEvents([Buffer.from(lines.join(''))]), { source: 'events.jsonl' });
}
