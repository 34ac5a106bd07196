/** Where a text that leaves the context can be read again; `offset` and `bytes` are those of the output. */
export interface KeptText {
  outputId: string;
  offset: number;
  bytes: number;
}

/** How the model gets a part of a kept text back, from its byte `skip` on. */
export function renderReference({ outputId, offset, bytes }: KeptText, skip = 0): string {
  return `read_output output_id=${outputId} offset=${offset + skip} limit=${bytes - skip}`;
}
