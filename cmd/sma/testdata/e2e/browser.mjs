// A headless Chromium, spoken to over its debugging pipe.
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { settled } from './lib.mjs';

/** A browser with one page, of a person who reads a language. */
export async function openBrowser(language = 'en-US') {
  const folder = await mkdtemp(join(tmpdir(), 'e2e-chromium-'));
  const child = spawn(process.env.CHROMIUM, [
    '--headless=new', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking',
    '--disable-dev-shm-usage', '--remote-debugging-pipe', `--user-data-dir=${folder}`,
  ], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
  const [, , , to, from] = child.stdio;
  const waiting = new Map();
  const faults = [];
  let last = 0, rest = '';

  from.setEncoding('utf8').on('data', text => {
    const messages = (rest + text).split('\0');
    rest = messages.pop();
    for (const { id, result, error, method, params } of messages.map(m => JSON.parse(m))) {
      if (method === 'Runtime.exceptionThrown') faults.push(params.exceptionDetails.exception?.description);
      if (method === 'Runtime.consoleAPICalled' && params.type === 'error') faults.push(JSON.stringify(params.args));
      if (!waiting.has(id)) continue;
      const [resolve, reject] = waiting.get(id);
      waiting.delete(id);
      if (error) reject(new Error(error.message));
      else resolve(result);
    }
  });
  const command = (method, params = {}, sessionId) => new Promise((resolve, reject) => {
    waiting.set(++last, [resolve, reject]);
    to.write(`${JSON.stringify({ id: last, method, params, sessionId })}\0`);
  });
  const { userAgent } = await command('Browser.getVersion');

  /** A window of its own, so that the browser slows none of them down as hidden. */
  const window = async () => {
    const { targetId } = await command('Target.createTarget', { url: 'about:blank', newWindow: true });
    const { sessionId } = await command('Target.attachToTarget', { targetId, flatten: true });
    const call = (method, params) => command(method, params, sessionId);
    for (const domain of ['Runtime', 'Page', 'Network']) await call(`${domain}.enable`);
    await call('Network.setUserAgentOverride', { userAgent, acceptLanguage: language });
    await call('Emulation.setLocaleOverride', { locale: language.split(',')[0].replace('-', '_') }); // of dates and times
    return pageOf(call, faults);
  };
  return {
    ...await window(),
    window,
    async close() {
      const gone = new Promise(resolve => child.once('exit', resolve));
      child.kill('SIGKILL');
      await gone;
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** What can be done with one window. */
function pageOf(call, faults) {
  /** What an expression is worth in the page. */
  const evaluate = async expression => {
    const { result, exceptionDetails } = await call('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception.description);
    return result.value;
  };
  return {
    faults,
    evaluate,
    open: url => call('Page.navigate', { url }),
    /** Waits until an expression is true in the page; a navigation meanwhile is fine. */
    until: expression => settled(`the page: ${expression}`, (async () => {
      const look = `(() => { try { return !!(${expression}); } catch { return false; } })()`;
      const watch = `(async () => { for (let n = 0; n < 20; n++) { if (${look}) return true; await new Promise(r => setTimeout(r, 50)); } })()`;
      while (!(await evaluate(watch).catch(() => false)));
    })()),
    /** Types into a field of the page and presses Enter. */
    async say(text, field = 'input') {
      await evaluate(`document.querySelector('${field}').focus()`);
      await call('Input.insertText', { text });
      for (const type of ['keyDown', 'keyUp']) {
        await call('Input.dispatchKeyEvent', { type, key: 'Enter', code: 'Enter', windowsVirtualKeyCode: 13, text: '\r' });
      }
    },
    click: label => evaluate(`[...document.querySelectorAll('button')].find(b => b.textContent === ${JSON.stringify(label)}).click()`),
    /** Presses a key, as one that makes no text. */
    async press(key) {
      for (const type of ['keyDown', 'keyUp']) await call('Input.dispatchKeyEvent', { type, key, code: key, windowsVirtualKeyCode: { Tab: 9, Enter: 13, Escape: 27 }[key], text: type === 'keyDown' && key === 'Enter' ? '\r' : undefined });
    },
    /** Makes the window as large as this. */
    resize: (width, height) => call('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: width < 500 }),
    /** What people see, as a PNG. */
    async picture() {
      const { data } = await call('Page.captureScreenshot', { format: 'png' });
      return Buffer.from(data, 'base64');
    },
  };
}
