export type AttributeValue = string | number | boolean;
export type Attributes = Record<string, AttributeValue>;

export interface Span {
  spanId: string;
  parentSpanId: string | null;
  name: string;
  kind: 'internal' | 'client';
  startMs: number;
  endMs: number;
  attributes: Attributes;
  /** Why it did not go well; null for a span that did. */
  error: string | null;
}
