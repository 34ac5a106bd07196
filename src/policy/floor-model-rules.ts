import { isDeepStrictEqual } from 'node:util';
import { asFloor, atMost, type FloorRule, type Merge } from './floor-rule.ts';
import type { Policy } from './policy.ts';
import type { PolicyKey } from './policy-origins.ts';

type Model = NonNullable<Policy['model']>;

/** Of a policy without a model there is nothing to tighten; null is a value of some fields, and no conflict. */
const model = <Field extends keyof Model>(field: Field, key: PolicyKey, merge: Merge<Model[Field]>): FloorRule => ({
  key,
  tighten(own, floor, stated) {
    if (own.model === null || floor.model === null || isDeepStrictEqual(own.model[field], floor.model[field]))
      return own;
    const value = merge(own.model[field], floor.model[field], stated);
    return value === null ? null : { ...own, model: { ...own.model, [field]: value } };
  },
});

const KEY_FIELDS = ['apiKeyEnv', 'apiKeyFile', 'apiKeyFd', 'apiKeyCommand'] as const;

/** Where the key comes from is one thing, however it is said: a floor that names a variable leaves no room for a program. */
const keySource = (key: PolicyKey): FloorRule => ({
  key,
  tighten(own, floor) {
    if (own.model === null || floor.model === null) return own;
    const sourceOf = (from: Model) => KEY_FIELDS.map((field) => from[field]);
    if (isDeepStrictEqual(sourceOf(own.model), sourceOf(floor.model))) return own;
    if (sourceOf(own.model).some((value) => value !== null)) return null;
    const { apiKeyEnv, apiKeyFile, apiKeyFd, apiKeyCommand } = floor.model;
    return { ...own, model: { ...own.model, apiKeyEnv, apiKeyFile, apiKeyFd, apiKeyCommand } };
  },
});

export const MODEL_RULES: readonly FloorRule[] = [
  model('provider', 'model.provider', asFloor),
  model('baseUrl', 'model.base_url', asFloor),
  keySource('model.api_key_env'),
  keySource('model.api_key_file'),
  keySource('model.api_key_fd'),
  keySource('model.api_key_command'),
  model('headersEnv', 'model.headers_env', asFloor),
  model('price', 'model.price', asFloor),
  model('requestTimeoutMs', 'model.request_timeout', atMost),
  model('retries', 'model.retries', atMost),
];
