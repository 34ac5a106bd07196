const SEPARATOR = Buffer.from('/');

/** Bytes, not text: what lies in a folder may have any name. */
export const joinBytes = (folder: Buffer, name: Buffer): Buffer => Buffer.concat([folder, SEPARATOR, name]);
