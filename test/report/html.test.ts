import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EventBody } from '../../src/events/index.ts';
import { renderHtml } from '../../src/report/index.ts';
import { sampleResult, WHOLE_RUN } from '../events/sample-events.ts';
import { type Browser, browserPath, launchBrowser, type Page, type PageOptions } from './browser.mjs';
import { ATTACKS, hostileBodies, viewOf } from './hostile-run.ts';

/** A run of many turns, each with words, a command with a long output, and an edit. */
function longRun(turns: number): EventBody[] {
  const [start, , turnStarted] = WHOLE_RUN;
  const ended = WHOLE_RUN.find((body) => body.type === 'turn.completed');
  if (start === undefined || turnStarted === undefined || ended?.type !== 'turn.completed') throw new Error('no turn');
  const item = { status: 'completed', duration_ms: 20 } as const;
  let total = ended.total_usage;
  const bodies: EventBody[] = [start];
  for (let turn = 1; turn <= turns; turn++) {
    const agent = { type: 'item.completed', turn, phase: 'agent' } as const;
    const output = `line & <b> of ${turn}\n`.repeat(600);
    if (turn > 1)
      total = {
        ...total,
        input_tokens: total.input_tokens + 100,
        output_tokens: total.output_tokens + 20,
        requests: turn,
      };
    bodies.push(
      { type: 'turn.started', turn, attempt: 1 },
      { ...agent, item: { ...item, id: `a${turn}`, type: 'agent_message', text: `Step ${turn} of the work.` } },
      {
        ...agent,
        item: {
          ...item,
          id: `c${turn}`,
          type: 'command_execution',
          command: 'make',
          aggregated_output: output,
          exit_code: 0,
        },
      },
      {
        ...agent,
        item: {
          ...item,
          id: `f${turn}`,
          type: 'file_change',
          changes: [{ path: 'a.js', kind: 'update' }],
          input: { patch: output },
        },
      },
      { ...ended, turn, total_usage: total },
    );
  }
  bodies.push({ type: 'run.completed', result: sampleResult({ usage: total }) });
  return bodies;
}

describe('renderHtml', () => {
  it('keeps a run of a thousand turns within 5 MB, with every turn in it', async () => {
    const page = renderHtml(await viewOf(longRun(1_000)));
    expect(Buffer.byteLength(page)).toBeLessThan(5_000_000);
    expect(page.match(/>Turn \d+</g)).toHaveLength(1_000);
  });

  it('leaves turns out of the middle of a run that never ends, and says how many', async () => {
    const page = renderHtml(await viewOf(longRun(3_000)));
    expect(page).toContain('>Turn 1<');
    expect(page).toContain('>Turn 3000<');
    expect(page).toMatch(/[\d,]+ steps of the run are left out/);
    expect(Buffer.byteLength(page)).toBeLessThan(6_000_000);
  });

  it('tells a check that was run once more apart, and a limit in its unit', async () => {
    const item = {
      id: 'c1',
      type: 'check',
      name: 'tests',
      command: 'make',
      aggregated_output: '',
      passed: false,
    } as const;
    const failed = { ...item, status: 'failed', exit_code: 1, duration_ms: 5 } as const;
    const at = { type: 'item.completed', turn: null, phase: 'verify' } as const;
    const page = renderHtml(
      await viewOf([
        ...WHOLE_RUN.slice(0, -1),
        { type: 'verification.started', attempt: 1, clean_room: false },
        { ...at, item: failed },
        { ...at, item: { ...failed, id: 'c2' } },
        { type: 'limit.warned', limit: 'wall_time_ms', used: 96_000, max: 120_000 },
        ...WHOLE_RUN.slice(-1),
      ]),
    );
    expect(page).toContain('<bdi>tests, once more</bdi>');
    expect(page).toContain('Near a limit: 1 m 36 s of 2 m 00 s wall time used.');
  });

  it.each(ATTACKS)('holds foreign text as text alone: %j', async (attack) => {
    const page = renderHtml(await viewOf(hostileBodies(attack)));
    expect(page, 'control: the text is there').toContain('EVIL');
    expect(page).not.toMatch(/<(script|img|iframe|object|embed|link|base|form|b)\b/i);
    expect(page).not.toMatch(/<[^>]*\son\w+\s*=/i);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
    expect(page).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
  });
});

describe.skipIf(browserPath === undefined)('the HTML report in Chromium', () => {
  const folder = mkdtempSync(join(tmpdir(), 'belay-report-'));
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  });

  interface Opened {
    page: Page;
    requests: string[];
    complaints: string[];
  }
  async function open(html: string, options: PageOptions = {}): Promise<Opened> {
    const file = join(folder, 'report.html');
    writeFileSync(file, html);
    const page = await (await browser.newContext(options)).newPage();
    const requests: string[] = [];
    const complaints: string[] = [];
    page.on('request', (request) => void requests.push(request.url()));
    page.on('console', (message) => void complaints.push(message.text()));
    page.on('dialog', (dialog) => {
      complaints.push(dialog.message());
      void dialog.dismiss();
    });
    page.on('pageerror', (error) => void complaints.push(error.message));
    await page.goto(pathToFileURL(file).href);
    return { page, requests, complaints };
  }

  it('fetches nothing, runs nothing and shows all of it as text, whatever the run held', async () => {
    for (const attack of ATTACKS) {
      const { page, requests, complaints } = await open(renderHtml(await viewOf(hostileBodies(attack))));
      expect(requests).toEqual([pathToFileURL(join(folder, 'report.html')).href]);
      expect(complaints).toEqual([]);
      expect(await page.locator('script, img, iframe, form, main b').count()).toBe(0);
      expect(await page.locator('#goal').textContent()).toContain('EVIL');
      await page.context().close();
    }
  });

  it.each([
    ['a wide screen', { width: 1280, height: 900 }],
    ['a phone', { width: 360, height: 740 }],
  ])('has no sideways scroll on %s, long words and all', async (_, viewport) => {
    const { page } = await open(renderHtml(await viewOf(hostileBodies(`${'EVIL'.repeat(300)} ${ATTACKS[0]}`))), {
      viewport,
    });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(viewport.width);
  });

  it('has another look in the dark', async () => {
    const html = renderHtml(await viewOf(WHOLE_RUN));
    const background = async (colorScheme: 'light' | 'dark') => {
      const { page } = await open(html, { colorScheme });
      return page.evaluate('getComputedStyle(document.body).backgroundColor');
    };
    expect(await background('light')).not.toBe(await background('dark'));
  });

  it('is worked by the keyboard: a step opens and closes', async () => {
    const { page } = await open(renderHtml(await viewOf(longRun(40))));
    const turn = page.locator('details:has(> summary .step)').first();
    await turn.locator('summary').first().focus();
    expect(await turn.getAttribute('open')).toBeNull();
    await page.keyboard.press('Enter');
    expect(await turn.getAttribute('open')).not.toBeNull();
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.tagName'), 'the item in it is next').toBe('SUMMARY');
    await page.keyboard.press('Enter');
    expect(await turn.locator('pre').first().isVisible()).toBe(true);
  });

  it('says first that a log is broken, and shows what is left of it', async () => {
    const { page } = await open(renderHtml(await viewOf(WHOLE_RUN.slice(0, -1))));
    expect(await page.getByRole('alert').textContent()).toContain('This log is broken');
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('No verdict');
    expect(await page.locator('#timeline').textContent()).toContain('Turn 1');
  });
});
