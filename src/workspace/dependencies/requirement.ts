import type { PinnedVersion } from './pinned-version.ts';

/** A PEP 508 requirement: `name[extra]>=1; marker`, `name @ url`. Anything else is null. */
export const parseRequirement = (text: string): [name: string, pinned: PinnedVersion] | null => {
  const match = /^([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*(.*)$/s.exec(text.trim());
  if (match === null) return null;
  const [, name = '', rest = ''] = match;
  const version = rest.split(/;|\s#|\s--/)[0]?.trim() ?? '';
  return [name.toLowerCase().replace(/[._]+/g, '-'), { version: version || 'any', source: rest }];
};
