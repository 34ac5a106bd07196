import * as z from 'zod';
import type { ToolSpec } from '../model/index.ts';
import type { Tool } from './tool.ts';

/** What a tool's schema says beyond this costs tokens in every request and tells the model nothing. */
const NOISE = new Set(['$schema', 'additionalProperties', 'minLength', 'maxLength', 'maxItems', 'minimum', 'maximum']);

function withoutNoise(schema: object, isPropertyMap = false): Record<string, unknown> {
  const kept = Object.entries(schema).filter(([key]) => isPropertyMap || !NOISE.has(key));
  return Object.fromEntries(
    kept.map(([key, value]) => {
      const isSchema = typeof value === 'object' && value !== null && !Array.isArray(value);
      return [key, isSchema ? withoutNoise(value, !isPropertyMap && key === 'properties') : value];
    }),
  );
}

/** Tools as a model is told of them. The same tools give the same bytes. */
export function toolSpecs(tools: readonly Tool[]): readonly ToolSpec[] {
  return tools.map(({ name, description, input }) => ({
    name,
    description,
    inputSchema: withoutNoise(z.toJSONSchema(input, { io: 'input' })),
  }));
}
