import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as z from 'zod';

const Value = z.union([
  z.strictObject({ stringValue: z.string() }).transform((v) => v.stringValue),
  z.strictObject({ intValue: z.string() }).transform((v) => Number(v.intValue)),
  z.strictObject({ doubleValue: z.number() }).transform((v) => v.doubleValue),
  z.strictObject({ boolValue: z.boolean() }).transform((v) => v.boolValue),
]);
const Attributes = z
  .array(z.strictObject({ key: z.string(), value: Value }))
  .transform((list) => Object.fromEntries(list.map(({ key, value }) => [key, value])));
const Hex = (digits: number) => z.string().regex(new RegExp(`^[0-9a-f]{${digits}}$`));
const Nanos = z.string().regex(/^\d{19}$/);
/** An export request, strictly: a field that the protocol does not have fails the test. */
const ExportRequest = z.strictObject({
  resourceSpans: z.array(
    z.strictObject({
      resource: z.strictObject({ attributes: Attributes }),
      scopeSpans: z.array(
        z.strictObject({
          scope: z.strictObject({ name: z.string() }),
          spans: z.array(
            z.strictObject({
              traceId: Hex(32),
              spanId: Hex(16),
              parentSpanId: Hex(16).optional(),
              traceState: z.string().optional(),
              name: z.string(),
              kind: z.int().min(1).max(5),
              startTimeUnixNano: Nanos,
              endTimeUnixNano: Nanos,
              attributes: Attributes,
              status: z.strictObject({ code: z.literal(2), message: z.string() }).optional(),
            }),
          ),
        }),
      ),
    }),
  ),
});

interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** A collector on loopback. `answer` is given every request after its body is read. */
export async function startCollector(
  answer: (response: ServerResponse) => void = (response) => void response.end('{}'),
) {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      received.push({ path: request.url ?? '', headers: request.headers, body });
      answer(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    received,
    url: `http://127.0.0.1:${port}`,
    spans: () =>
      received.flatMap(({ body }) =>
        ExportRequest.parse(JSON.parse(body)).resourceSpans.flatMap((one) =>
          one.scopeSpans.flatMap(({ spans }) => spans.map((span) => ({ ...span, resource: one.resource.attributes }))),
        ),
      ),
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
