// A headless Chromium, spoken to over its debugging pipe.
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { settled } from './lib.mjs';

export async function openBrowser() {
  const folder = await mkdtemp(join(tmpdir(), 'e2e-chromium-'));
  const child = spawn(process.env.CHROMIUM, [
    '--headless=new', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking',
    '--disable-dev-shm-usage', '--remote-debugging-pipe', `--user-data-dir=${folder}`,
  ], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
  const [, , , to, from] = child.stdio;
  const waiting = new Map();
  const faults = [];
  let last = 0, session, rest = '';

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
  const call = (method, params = {}) => new Promise((resolve, reject) => {
    waiting.set(++last, [resolve, reject]);
    to.write(`${JSON.stringify({ id: last, method, params, sessionId: session })}\0`);
  });
  const { targetId } = await call('Target.createTarget', { url: 'about:blank' });
  session = (await call('Target.attachToTarget', { targetId, flatten: true })).sessionId;
  for (const domain of ['Runtime', 'Page']) await call(`${domain}.enable`);

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
      while (!(await evaluate(`(() => { try { return !!(${expression}); } catch { return false; } })()`).catch(() => false)));
    })()),
    /** Types into the one field of the page and presses Enter. */
    async say(text) {
      await evaluate(`document.querySelector('input').focus()`);
      await call('Input.insertText', { text });
      for (const type of ['keyDown', 'keyUp']) {
        await call('Input.dispatchKeyEvent', { type, key: 'Enter', code: 'Enter', windowsVirtualKeyCode: 13, text: '\r' });
      }
    },
    click: label => evaluate(`[...document.querySelectorAll('button')].find(b => b.textContent === ${JSON.stringify(label)}).click()`),
    async close() {
      const gone = new Promise(resolve => child.once('exit', resolve));
      child.kill('SIGKILL');
      await gone;
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
