// The React example in a real browser: send, reload in the middle, stop, tools, approvals.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openBrowser } from '../browser.mjs';
import { assert, history, notes, outline } from '../lib.mjs';

export default async function () {
  const server = spawn(process.execPath, ['serve.mjs'], {
    cwd: process.env.REACT_EXAMPLE, env: { ...process.env, SMA_URL: process.env.HOST_URL, PORT: '0' }, stdio: ['ignore', 'pipe', 'inherit'],
  });
  const browser = await openBrowser();
  try {
    const [line] = await once(server.stdout.setEncoding('utf8'), 'data');
    await use(browser, line.match(/http:\S+:\d+/)[0]);
    assert.deepEqual(browser.faults, [], 'the page reported errors');
  } finally {
    server.kill();
    await browser.close();
  }
}

const text = `document.querySelector('ol').innerText`;
const status = word => `document.getElementById('status').textContent === '${word}'`;

const asks = n => `document.querySelectorAll('.ask').length === ${n}`;
const last = `document.querySelector('ol li:last-child').innerText`;

async function use(page, url) {
  await page.open(`${url}/#react`);
  await page.until(status('ready'));
  await page.say('use a tool');
  await page.until(`${text}.includes('Look at the clock: done') && ${text}.includes('answered') && ${status('ready')}`);

  await page.say('slow answer');
  await page.until(`${text}.includes('I am writing this')`);
  await page.evaluate('window.old = true; location.reload()');
  await page.until(`!window.old && ${status('streaming')} && ${text}.includes('I am writing this') && ${text}.includes('Look at the clock: done')`);
  await page.click('Stop');
  await page.until(status('ready'));
  const kept = await history('react');
  assert.deepEqual(outline(kept).filter(line => line.startsWith('u:')), ['u:use a tool', 'u:slow answer']);
  const answer = outline(kept).at(-1).slice(2).trim();
  assert.ok(answer.startsWith('I am writing this'), answer);
  await page.until(`document.querySelector('ol li:last-child').innerText.trim() === ${JSON.stringify(answer)}`);

  await page.say('hello');
  await page.until(`${text}.includes('demo model') && ${status('ready')}`);

  await page.say('ask first');
  await page.until(`${asks(1)} && ${status('ready')}`);
  await page.click('Allow');
  await page.until(`${asks(0)} && ${last}.includes('Write a note: done') && ${last}.includes('answered') && ${status('ready')}`);
  assert.equal(await notes(), 1);

  await page.say('ask first');
  await page.until(`${asks(1)} && ${status('ready')}`);
  await page.say('hello');
  await page.until(`${last}.includes('demo model') && ${status('ready')}`);
  await page.click('Allow'); // late: the outcome is a message of its own
  await page.until(`${asks(0)} && ${last}.includes('Write a note: done') && ${last}.includes('answered') && ${status('ready')}`);
  assert.equal(await notes(), 2);
}
