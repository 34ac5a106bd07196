import { type LimitName, renderCost, renderDuration, renderTokens } from '../events/index.ts';
import { type Html, html } from './html.ts';
import type { ChartPoint, ReportView } from './report-view.ts';

const WIDTH = 320;
const HEIGHT = 96;
/** Room for the scale's words. */
const TOP = 18;

/** Tokens, context and cost over the turns, and what was used of each limit. Plain SVG: it needs no script and scales with the page. */
export function htmlUsage(view: ReportView): Html | null {
  const charts = chartsOf(view.points);
  const limits = htmlLimits(view);
  if (charts.length === 0 && limits === null) return null;
  return html`<section class="card" id="used"><h2>Used</h2>${charts.length === 0 ? null : html`<div class="charts">${charts}</div>`}${limits}</section>`;
}

function chartsOf(points: readonly ChartPoint[]): Html[] {
  if (points.length === 0) return [];
  const costs = points.map((point) => point.totalCostUsd ?? 0);
  const isPriced = points.every((point) => point.totalCostUsd !== null);
  const totals = points.map((point) => point.totalTokens);
  return [
    figure(
      'Context: tokens sent in each turn',
      html`<span class="key fresh">new</span> <span class="key cached">from the cache</span>`,
      bars(
        points,
        points.map((point) => [
          Math.min(point.cachedTokens, point.inputTokens),
          Math.max(0, point.inputTokens - point.cachedTokens),
        ]),
        ['cached', 'fresh'],
      ),
    ),
    figure(
      'Answer: tokens written in each turn',
      null,
      bars(
        points,
        points.map((point) => [point.outputTokens]),
        ['out'],
      ),
    ),
    isPriced
      ? figure('Cost so far', null, line(points, costs, renderCost))
      : figure('Tokens so far (the price is not known)', null, line(points, totals, renderTokens)),
  ];
}

function figure(title: string, key: Html | null, svg: Html): Html {
  return html`<figure><figcaption>${title}${key === null ? null : html`<span class="keys">${key}</span>`}</figcaption>${svg}</figure>`;
}

/** One column a turn, its parts on top of each other. */
function bars(
  points: readonly ChartPoint[],
  columns: readonly (readonly number[])[],
  classes: readonly string[],
): Html {
  const max = Math.max(1, ...columns.map((parts) => parts.reduce((sum, part) => sum + part, 0)));
  const step = WIDTH / columns.length;
  const width = Math.max(0.4, step > 3 ? Math.min(step - 1.5, 28) : step);
  const shapes = columns.map((parts, i) => {
    let y = HEIGHT;
    const all = parts.reduce((sum, part) => sum + part, 0);
    const rects = parts.map((part, k) => {
      const height = (part / max) * (HEIGHT - TOP);
      y -= height;
      return part === 0
        ? null
        : html`<rect class="${classes[k] ?? ''}" x="${fixed(i * step + (step - width) / 2)}" y="${fixed(y)}" width="${fixed(width)}" height="${fixed(height)}"/>`;
    });
    return html`<g><title>turn ${points[i]?.turn ?? i + 1}: ${all.toLocaleString('en')} tokens</title>${rects}</g>`;
  });
  return svg(shapes, { label: `up to ${renderTokens(max)} tokens in a turn`, scale: renderTokens(max), points });
}

function line(points: readonly ChartPoint[], values: readonly number[], render: (value: number) => string): Html {
  const max = Math.max(...values, 1e-9);
  const x = (i: number) => (values.length === 1 ? WIDTH : (i / (values.length - 1)) * WIDTH);
  const y = (value: number) => HEIGHT - (value / max) * (HEIGHT - TOP);
  const path = values.map((value, i) => `${fixed(x(i))},${fixed(y(value))}`).join(' ');
  const shapes = [
    html`<polygon class="area" points="0,${HEIGHT} ${path} ${WIDTH},${HEIGHT}"/>`,
    html`<polyline class="line" points="${values.length === 1 ? `0,${HEIGHT} ` : ''}${path}"/>`,
  ];
  return svg(shapes, { label: `${render(values.at(-1) ?? 0)} at the end`, scale: render(max), points });
}

function svg(
  shapes: readonly Html[],
  { label, scale, points }: { label: string; scale: string; points: readonly ChartPoint[] },
): Html {
  const first = points[0]?.turn ?? 1;
  const last = points.at(-1)?.turn ?? 1;
  return html`<svg viewBox="0 0 ${WIDTH} ${HEIGHT + 18}" role="img" aria-label="${label}">
<line class="grid" x1="0" x2="${WIDTH}" y1="${TOP}" y2="${TOP}"/><line class="grid" x1="0" x2="${WIDTH}" y1="${HEIGHT}" y2="${HEIGHT}"/>${shapes}
<text x="0" y="${TOP - 4}">${scale}</text><text x="0" y="${HEIGHT + 15}">turn ${first}</text>${last === first ? null : html`<text x="${WIDTH}" y="${HEIGHT + 15}" text-anchor="end">${last}</text>`}</svg>`;
}

const NAMES: readonly (readonly [LimitName, string, (value: number) => string])[] = [
  ['turns', 'turns', String],
  ['attempts', 'attempts', String],
  ['tool_calls', 'tool calls', String],
  ['tokens', 'tokens', renderTokens],
  ['cost_usd', 'cost', renderCost],
  ['wall_time_ms', 'time', renderDuration],
];

function htmlLimits({ result }: ReportView): Html | null {
  if (result === null) return null;
  const rows = NAMES.map(([name, title, render]) => {
    const { used, max } = result.limits[name];
    const unknown = name === 'cost_usd' && result.cost_usd === null;
    const share = max === null || max === 0 || unknown ? 0 : Math.min(1, used / max);
    const tone = share >= 0.8 ? 'high' : '';
    return html`<div><dt>${title}</dt><dd><span>${unknown ? 'unknown' : render(used)}<span class="of"> of ${max === null ? 'any' : render(max)}</span></span><svg class="meter ${tone}" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true"><rect class="track" width="100" height="4"/><rect class="fill" width="${fixed(share * 100)}" height="4"/></svg></dd></div>`;
  });
  return html`<h3>Limits</h3><dl class="limits">${rows}</dl>`;
}

const fixed = (value: number) => String(Math.round(value * 100) / 100);
