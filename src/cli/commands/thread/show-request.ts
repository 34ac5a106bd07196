import { createHash } from 'node:crypto';
import { listRequestPieces, listSummaryPieces, type RequestPiece } from '../../../context/index.ts';
import { UsageError } from '../../../errors.ts';
import { oneLine, renderJson } from '../../../events/index.ts';
import { notesOfRequest, readTimeline, type StoredThread } from '../../../thread/index.ts';

/** `belay thread show THREAD --request N`: where each piece of the request of turn N came from. */
export async function showRequest(thread: StoredThread, text: string, json: boolean): Promise<string> {
  const turn = /^[1-9]\d{0,8}$/.test(text) ? Number(text) : null;
  if (turn === null) throw new UsageError(`--request: ${JSON.stringify(text)} is no turn`);
  const found = await notesOfRequest(thread.readNotes(), turn);
  const timeline = found === null || found.compaction !== null ? await readTimeline(thread) : null;
  const told = timeline?.turns.get(turn);
  // A compaction behind a request that failed is no answer to it.
  if (found === null || (found.compaction !== null && told?.purpose !== 'summary')) {
    const lastTurn = timeline?.lastTurn ?? 0;
    throw new UsageError(
      turn > lastTurn
        ? `thread ${thread.id} has no turn ${turn}: it has ${lastTurn}`
        : `no answer to request ${turn} is on record, so that what it held is not known for certain`,
      { code: 'no_turn' },
    );
  }
  const { notes, compaction } = found;
  const pieces = compaction === null ? listRequestPieces(notes) : listSummaryPieces(notes, compaction);
  const standIn = compaction?.standIn ?? null;
  const summary = standIn === null ? null : { by: told?.summaryBy ?? null, trusted: false, text: standIn.summary };
  const purpose = summary === null ? 'work' : 'summary';
  if (json) return renderJson({ thread_id: thread.id, turn, purpose, pieces: pieces.map(toJson), summary });
  const head = `${'from'.padEnd(32)}  ${'trusted'}  ${'turn'.padStart(4)}  ${'bytes'.padStart(7)}  text`;
  const end = summary === null ? [] : renderSummary(turn, summary);
  return `${[head, ...pieces.map(render), ...end].join('\n')}\n`;
}

function renderSummary(turn: number, { by, text }: { by: 'model' | 'belay' | null; text: string }): string[] {
  const author = by === null ? '' : by === 'model' ? ', written by the model' : ', a list by belay';
  return [
    '',
    `what came of it${author}; it stands for the past in the requests behind it:`,
    render({ role: 'user', source: 'summary', trusted: false, turn, callId: null, text }),
  ];
}

const TEXT_LENGTH = 60;

function render({ source, trusted, turn, text }: RequestPiece): string {
  const columns = [
    oneLine(source, 60).padEnd(32),
    (trusted ? 'yes' : 'no').padEnd(7),
    String(turn ?? '-').padStart(4),
    String(Buffer.byteLength(text)).padStart(7),
    oneLine(text, TEXT_LENGTH),
  ];
  return columns.join('  ');
}

function toJson({ role, source, trusted, turn, callId, text }: RequestPiece) {
  const sha256 = createHash('sha256').update(text).digest('hex');
  return { role, source, trusted, turn, call_id: callId, bytes: Buffer.byteLength(text), sha256, text };
}
