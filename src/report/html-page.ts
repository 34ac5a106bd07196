import { createHash } from 'node:crypto';
import { Html, html } from './html.ts';
import { STYLE } from './html-style.ts';

/**
 * One page that stands alone: nothing is fetched and nothing runs. The policy of the page allows its one style sheet, by digest, and nothing
 * else, so that markup that slipped through would still be inert.
 */
export function htmlPage(title: string, body: Html): string {
  const digest = createHash('sha256').update(STYLE).digest('base64');
  const csp = `default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'`;
  const page = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${new Html(csp)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer"><meta name="robots" content="noindex">
<title>${title}</title><style>${new Html(STYLE)}</style></head>
<body><a class="skip" href="#main">Skip to the content</a><div class="page">
${body}
</div></body></html>
`;
  return page.markup;
}
