// Chromium for tests. Its library's own types need those of a browser, which this repository has no use for: see browser.d.mts.
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';

const PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
export const browserPath = PATHS.find((path) => existsSync(path));

/** Root may not use Chromium's own sandbox; the pages are the tests' own. */
export const launchBrowser = () => chromium.launch({ executablePath: browserPath, args: ['--no-sandbox'] });
