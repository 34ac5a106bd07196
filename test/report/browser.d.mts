export interface Locator {
  first(): Locator;
  locator(selector: string): Locator;
  count(): Promise<number>;
  focus(): Promise<void>;
  isVisible(): Promise<boolean>;
  textContent(): Promise<string | null>;
  getAttribute(name: string): Promise<string | null>;
}
export interface Page {
  goto(url: string): Promise<unknown>;
  evaluate(script: string): Promise<unknown>;
  locator(selector: string): Locator;
  getByRole(role: string, options?: { level?: number }): Locator;
  keyboard: { press(key: string): Promise<void> };
  context(): { close(): Promise<void> };
  on(event: 'request', listener: (request: { url(): string }) => void): void;
  on(event: 'console', listener: (message: { text(): string }) => void): void;
  on(event: 'dialog', listener: (dialog: { message(): string; dismiss(): Promise<void> }) => void): void;
  on(event: 'pageerror', listener: (error: Error) => void): void;
}
export interface PageOptions {
  viewport?: { width: number; height: number };
  colorScheme?: 'light' | 'dark';
}
export interface Browser {
  newContext(options: PageOptions): Promise<{ newPage(): Promise<Page> }>;
  close(): Promise<void>;
}
/** Undefined where there is no Chromium. */
export const browserPath: string | undefined;
export function launchBrowser(): Promise<Browser>;
