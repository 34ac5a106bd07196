import { UsageError } from '../errors.ts';
import { NO_USAGE } from '../events/index.ts';
import type { ModelPolicy } from '../policy/index.ts';
import { createAiSdkModel } from './ai-sdk-model.ts';
import { ASSUMED_WINDOW_TOKENS, contextWindowOf } from './context-windows.ts';
import { hideSecrets } from './hide-secrets.ts';
import { loadProvider } from './load-provider.ts';
import type { Model } from './model.ts';
import type { ModelKeys } from './model-keys.ts';
import { type CostOf, loadPrices } from './prices.ts';
import type { Environment } from './proxy.ts';
import { createReplayModel } from './replay-model.ts';
import { createRetryingModel } from './retrying-model.ts';

export interface CreateModelOptions {
  model: ModelPolicy;
  /** From `loadModelKeys`. */
  keys: ModelKeys;
  env: Environment;
  workspace: string;
  /** A cost limit was set on purpose: a model of unknown price is then a usage error. Prices are loaded before the return. */
  needsPrice: boolean;
  /** Of a cassette: answers that were given before. */
  skip?: number;
}

/**
 * The model of a policy, with retries. Imports only the provider in use; sends nothing. The price table loads while the first
 * request is under way, so that `costOf` knows before the first answer is there. Throws `UsageError`.
 */
export async function createModel(options: CreateModelOptions): Promise<Model> {
  const { model, keys, env, needsPrice, skip = 0 } = options;
  if (model.provider === 'replay') return createReplayModel({ cassette: model.name, model, needsPrice, skip });
  const { createTransport } = await import('./transport.ts');
  const transport = await createTransport(env);
  const { wire, languageModel } = await loadProvider({ ...options, transport });
  let costOf: CostOf = () => null;
  let costs: Promise<void> | null = null;
  const loadCosts = (): Promise<void> => {
    const loading = loadPrices(model).then((loaded) => {
      costOf = loaded;
    });
    // Nobody may be waiting yet; a failure comes out where the prices are awaited.
    loading.catch(() => {});
    return loading;
  };
  if (needsPrice) {
    costs = loadCosts();
    await costs;
    if (costOf(NO_USAGE) === null)
      throw new UsageError(
        `limits.cost_usd is set, but the price of ${model.provider}/${model.name} is not known: give model.price`,
        { code: 'unknown_price' },
      );
  }
  const known = model.contextWindow ?? contextWindowOf(model.name);
  const single = createAiSdkModel({
    provider: model.provider,
    name: model.name,
    wire,
    languageModel,
    reasoningEffort: model.reasoningEffort,
    contextWindow: known ?? ASSUMED_WINDOW_TOKENS,
    isWindowAssumed: known === null,
    transport: {
      watch(signal, onBytes) {
        transport.watch(signal, () => {
          // Not before the request is out: the import would hold it back.
          costs ??= loadCosts();
          onBytes();
        });
      },
    },
    requestTimeoutMs: model.requestTimeoutMs,
    costOf: (usage) => costOf(usage),
  });
  const priced: Model = {
    ...single,
    async answer(request, answerOptions) {
      const outcome = await single.answer(request, answerOptions);
      // Tokens have been paid for, whatever came of them.
      if (outcome.kind === 'answer' || outcome.usage.input_tokens + outcome.usage.output_tokens > 0) {
        costs ??= loadCosts();
        await costs;
      }
      if (outcome.kind !== 'failed') return outcome;
      return {
        ...outcome,
        failure: { ...outcome.failure, message: hideSecrets(outcome.failure.message, keys.secrets) },
      };
    },
  };
  return createRetryingModel(priced, { retries: model.retries });
}
