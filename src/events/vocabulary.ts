import { Event } from './event.ts';
import { Item, ItemStatus, Phase } from './item.ts';
import { Outcome } from './outcome.ts';
import { CheckStatus, Classification, LimitName } from './result.ts';

/**
 * Words of the format. A whole string that is one of them is never redacted: a secret that happens to be `completed` must not
 * break every status, and the word gives nothing away.
 */
export const VOCABULARY: ReadonlySet<string> = new Set([
  ...Event.options.map((event) => event.shape.type.value),
  ...Item.options.map((item) => item.shape.type.value),
  ...ItemStatus.options,
  ...Phase.options,
  ...Outcome.options,
  ...CheckStatus.options,
  ...Classification.options,
  ...LimitName.options,
  ...[
    'add',
    'update',
    'delete',
    'fixed',
    'kept',
    'none',
    'elide',
    'summarize',
    'approved',
    'denied',
    'base',
    'belay.result/v1',
  ],
]);
