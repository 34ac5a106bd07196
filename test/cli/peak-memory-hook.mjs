// Preloaded into the CLI of a test: the most memory that the process took, in kilobytes, as PEAK_LOG when it ends.
import { writeFileSync } from 'node:fs';

const { PEAK_LOG } = process.env;
process.on('exit', () => writeFileSync(PEAK_LOG, String(process.resourceUsage().maxRSS)));
