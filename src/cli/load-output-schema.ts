import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import { UsageError } from '../errors.ts';
import type { OutputSchema } from '../run/index.ts';

const MOST_BYTES = 262_144;
const SchemaObject = z.record(z.string(), z.unknown());

/**
 * A JSON Schema (draft 2020-12) for the final answer, compiled once. Of a stranger's, patterns are RE2: one that takes for ever on some
 * answer would hold belay, signals and all.
 */
export async function loadOutputSchema(
  path: string,
  { isForeign = false }: { isForeign?: boolean } = {},
): Promise<OutputSchema> {
  const text = await readSchema(path);
  // CommonJS: only the default is there both bundled and not.
  const { default: module } = await import('ajv/dist/2020.js');
  const code = isForeign ? { code: { regExp: await linearPatterns() } } : {};
  const ajv = new module.Ajv2020({ allErrors: true, strict: false, logger: false, ...code });
  let validate: ReturnType<typeof ajv.compile>;
  try {
    validate = ajv.compile(SchemaObject.parse(JSON.parse(text)));
  } catch (error) {
    throw new UsageError(
      `${path}: no usable JSON Schema: ${error instanceof z.ZodError ? 'it is no object' : describe(error)}`,
      { cause: error },
    );
  }
  return {
    source: path,
    text,
    faultOf: (value) => (validate(value) ? null : ajv.errorsText(validate.errors, { dataVar: 'output' })),
  };
}

async function linearPatterns() {
  const { RE2JS } = await import('re2js');
  const compile = (text: string) => {
    const pattern = RE2JS.compile(RE2JS.translateRegExp(text));
    // ajv takes patterns of the same text for one.
    return { test: (value: string) => pattern.matcher(value).find(), toString: () => text };
  };
  // Only for code that is written to a file.
  return Object.assign(compile, { code: 'none' });
}

async function readSchema(path: string): Promise<string> {
  try {
    const text = await readFile(path, 'utf8');
    if (text.length > MOST_BYTES) throw new UsageError(`${path}: the schema is larger than ${MOST_BYTES} bytes`);
    return text;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`--output-schema: cannot read ${path}: ${describe(error)}`, { cause: error });
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
