/** The first of some names, and how many are left out: `a, b and 3 more`. */
export function nameSome(names: readonly string[], most: number): string {
  const more = names.length > most ? ` and ${names.length - most} more` : '';
  return `${names.slice(0, most).join(', ')}${more}`;
}
