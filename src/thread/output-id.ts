/** Names of kept outputs, which are also names of files. */
export const OUTPUT_ID = /^o[1-9]\d{0,8}$/;

export const isOutputId = (name: string) => OUTPUT_ID.test(name);
