import type { Clock } from './clock.ts';
import type { Event } from './event.ts';
import { renderCost, renderDuration, renderTokens } from './render-quantity.ts';
import { oneLine } from './visible-text.ts';

/** Where a run is, as its events tell. */
export interface Progress {
  note(event: Event): void;
  /** One line without control characters: turn, attempt, tokens, cost, time, and what runs. */
  render(): string;
}

export function createProgress(clock: Clock): Progress {
  const startMs = clock.now();
  const running = new Map<string, string>();
  let turn = 0;
  let attempt = 0;
  let tokens = 0;
  let costUsd: number | null = 0;

  return {
    note(event) {
      if ('turn' in event && event.turn !== null) turn = event.turn;
      if ('attempt' in event && event.type !== 'model.retried') attempt = event.attempt;
      if (event.type === 'turn.completed' || event.type === 'turn.failed') {
        tokens = event.total_usage.input_tokens + event.total_usage.output_tokens;
      }
      if (event.type === 'turn.completed')
        costUsd = costUsd === null || event.cost_usd === null ? null : costUsd + event.cost_usd;
      if (event.type === 'item.started') {
        const { item } = event;
        if (item.type === 'command_execution') running.set(item.id, `$ ${oneLine(item.command)}`);
        if (item.type === 'check') running.set(item.id, `check ${oneLine(item.name)}`);
      }
      if (event.type === 'item.completed') running.delete(event.item.id);
    },
    render() {
      const facts = [
        `turn ${turn}`,
        attempt > 1 ? `attempt ${attempt}` : null,
        `${renderTokens(tokens)} tokens`,
        costUsd === null ? null : renderCost(costUsd),
        renderDuration(clock.now() - startMs),
        [...running.values()].at(-1) ?? null,
      ];
      return facts.filter((fact) => fact !== null).join(' · ');
    },
  };
}
