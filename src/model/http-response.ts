interface Answer {
  status: number;
  statusText: string;
  headers: Headers;
  body: ReadableStream<Uint8Array> | null;
}

/**
 * A response as `fetch` gives it. The first use of the global `Response`, or of the global `Headers`, loads all of Node's fetch (some
 * 35 ms); providers ask for status, headers, text and stream, and what is asked more seldom goes to the global after all.
 */
export class HttpResponse implements Response {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Headers;
  readonly url: string;
  readonly type = 'default';
  readonly redirected = false;
  #body: ReadableStream<Uint8Array> | null;
  #isUsed = false;

  constructor(url: URL, { status, statusText, headers, body }: Answer) {
    this.url = url.href;
    this.status = status;
    this.statusText = statusText;
    this.headers = headers;
    this.#body = body;
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  get body(): ReadableStream<Uint8Array> | null {
    return this.#body;
  }

  get bodyUsed(): boolean {
    return this.#isUsed || this.#body?.locked === true;
  }

  async text(): Promise<string> {
    return new TextDecoder().decode(await this.#read());
  }

  async json(): Promise<unknown> {
    const parsed: unknown = JSON.parse(await this.text());
    return parsed;
  }

  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return this.#read();
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return (await this.#read()).buffer;
  }

  blob(): Promise<Blob> {
    return this.#whole(this.#body).blob();
  }

  formData(): Promise<FormData> {
    return this.#whole(this.#body).formData();
  }

  clone(): Response {
    const [own = null, other = null] = this.#body?.tee() ?? [];
    this.#body = own;
    return this.#whole(other);
  }

  #whole(body: ReadableStream<Uint8Array> | null): Response {
    const { status, statusText } = this;
    return new Response(body, { status, statusText, headers: [...this.headers] });
  }

  async #read(): Promise<Uint8Array<ArrayBuffer>> {
    if (this.bodyUsed) throw new TypeError('the body of this response was read before');
    this.#isUsed = true;
    const chunks: Uint8Array[] = [];
    for await (const chunk of this.#body ?? []) chunks.push(chunk);
    const bytes = new Uint8Array(chunks.reduce((sum, { byteLength }) => sum + byteLength, 0));
    let at = 0;
    for (const chunk of chunks) {
      bytes.set(chunk, at);
      at += chunk.byteLength;
    }
    return bytes;
  }
}
