/** Whether a path is a folder or lies in it. Both absolute and without `..`: names alone say nothing of where their links lead. */
export function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}
