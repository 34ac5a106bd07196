/** The shortest value that is replaced: shorter ones turn up in innocent text. */
export const MIN_SECRET_LENGTH = 6;
/** The shortest line of a multi-line value that counts as a secret of its own. */
const MIN_LINE_LENGTH = 12;
/** How `base64` and PEM writers break their lines. */
const BASE64_LINE_LENGTHS = [76, 64];
/** The first and last line of every key file, which tell nothing. */
const PEM_BORDER = /^-----.*-----$/;

/** Every byte sequence that gives a value away: plain, base64, URL-encoded, JSON-escaped and hex, each line of it included. */
export function secretForms(value: string): Buffer[] {
  const forms = new Set<string>();
  for (const text of valuesToHide(value)) {
    for (const form of [text, ...jsonForms(text), ...urlForms(text), ...hexForms(text)]) forms.add(form);
    for (const form of base64Forms(Buffer.from(text))) forms.add(form);
  }
  return [...forms].filter((form) => form.length >= MIN_SECRET_LENGTH).map((form) => Buffer.from(form));
}

/** The value, the value without the line end that a secret file has, and its long lines. */
function valuesToHide(value: string): Set<string> {
  const wellFormed = Buffer.from(value).toString();
  const lines = wellFormed.split(/\r\n|\r|\n/).map((line) => line.trim());
  const secretLines = lines.filter((line) => line.length >= MIN_LINE_LENGTH && !PEM_BORDER.test(line));
  const values = [wellFormed, wellFormed.trim(), ...(lines.length > 1 ? secretLines : [])];
  return new Set(values.filter((text) => text.length >= MIN_SECRET_LENGTH));
}

function jsonForms(text: string): string[] {
  const plain = JSON.stringify(text).slice(1, -1);
  const ascii = (hex: (code: string) => string) =>
    plain.replace(/[^\0-\x7e]/g, (unit) => `\\u${hex(unit.charCodeAt(0).toString(16).padStart(4, '0'))}`);
  const forms = [plain, ascii((code) => code), ascii((code) => code.toUpperCase())];
  return [...forms, ...forms.map((form) => form.replaceAll('/', '\\/'))];
}

function urlForms(text: string): string[] {
  const component = encodeURIComponent(text);
  const strict = component.replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  const form = new URLSearchParams([['', text]]).toString().slice(1);
  const upper = [
    component,
    component.replaceAll('%20', '+'),
    strict,
    strict.replaceAll('%20', '+'),
    form,
    encodeURI(text),
  ];
  return [...upper, ...upper.map((encoded) => encoded.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()))];
}

function hexForms(text: string): string[] {
  const hex = Buffer.from(text).toString('hex');
  return [hex, hex.toUpperCase()];
}

/**
 * What is left of the value in the base64 of a longer text: the value may begin at any of three places in a group of three bytes.
 * Characters that also hold bits of the unknown neighbours are left out, except at the end of the text, where the padding is known.
 */
function base64Forms(bytes: Buffer): string[] {
  const forms: string[] = [];
  for (const before of [0, 1, 2]) {
    const padded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    const first = Math.ceil((before * 8) / 6);
    const whole = padded.slice(first);
    const unpadded = whole.replace(/=+$/, '');
    const inside = padded.slice(first, Math.floor(((before + bytes.length) * 8) / 6));
    forms.push(whole, unpadded, inside);
    if (before === 0) for (const length of BASE64_LINE_LENGTHS) forms.push(...wrappedForms(whole, length));
  }
  return [...forms, ...forms.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'))];
}

/** A text that does not fit on one line: in lines, and each line, in case something stands before each of them. */
function wrappedForms(text: string, length: number): string[] {
  if (text.length <= length) return [];
  const lines = Array.from({ length: Math.ceil(text.length / length) }, (_, i) =>
    text.slice(i * length, (i + 1) * length),
  );
  return [lines.join('\n'), ...lines.filter((line) => line.length >= MIN_LINE_LENGTH)];
}
