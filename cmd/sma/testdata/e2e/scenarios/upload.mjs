// Files in both directions: an unmodified useChat sends a data URL, and the page takes
// files by its button, by dropping and by pasting. The host keeps each once, the history
// names it, and what is too large is refused in words.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openBrowser } from '../browser.mjs';
import { Chat, assert, history, outline, sameAsHost } from '../lib.mjs';

const { HOST_URL, PAGE_LANGUAGE, PICTURES } = process.env;
const says = {
  en: { browser: 'en-US', tooLarge: 'too large: at most 1 MB', refused: 'Remove the files' },
  zh: { browser: 'zh-CN', tooLarge: '文件过大，最多 1 MB', refused: '请移除未能上传的文件' },
}[PAGE_LANGUAGE];
const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

export default async function () {
  await byData();
  const browser = await openBrowser(says.browser);
  try {
    await byPage(browser);
    assert.deepEqual(browser.faults.filter(f => !/413/.test(f)), [], 'the page reported errors');
  } finally {
    await browser.close();
  }
}

async function byData() {
  const id = `data-${PAGE_LANGUAGE}`;
  const chat = new Chat({ id });
  await chat.sendMessage({ parts: [{ type: 'text', text: 'seen' }, { type: 'file', mediaType: 'image/png', filename: 'dot.png', url: `data:image/png;base64,${dot}` }] });
  assert.match(chat.answer, /seen/);
  await sameAsHost(chat);
  const stored = (await history(id))[0];
  const file = stored.parts.find(p => p.type === 'file');
  assert.ok(!JSON.stringify(stored).includes(dot.slice(0, 30)), 'the history holds the bytes');
  const got = Buffer.from(await (await fetch(file.url)).arrayBuffer());
  assert.equal(got.toString('base64'), dot, 'what is fetched is what was sent');
  const other = await fetch(file.url.replace(id, `${id}-other`));
  assert.equal(other.status, 404, 'another chat does not have it');
  await chat.sendMessage({ text: 'again' });
  assert.deepEqual(chat.errors, []);
  assert.equal(outline(await history(id)).length, 4);
}

async function byPage(page) {
  const id = `upload-${PAGE_LANGUAGE}`;
  const given = name => `(() => { const dt = new DataTransfer(); const raw = Uint8Array.from(atob('${dot}'), c => c.charCodeAt(0)); dt.items.add(new File([raw], '${name}', { type: 'image/png' })); return dt; })()`;
  const ready = n => page.until(`document.querySelectorAll('#files li').length === ${n} && ![...document.querySelectorAll('#files li')].some(l => l.innerText.includes('%'))`);
  await page.open(`${HOST_URL}/#/c/${id}`);
  await page.until(`document.querySelector('#attach').getAttribute('aria-label')`);
  await page.evaluate(`(() => { const p = document.querySelector('#pick'); p.files = ${given('chosen.png')}.files; p.dispatchEvent(new Event('change')); })()`);
  await ready(1);
  await page.evaluate(`document.dispatchEvent(new DragEvent('drop', { dataTransfer: ${given('dropped.png')}, bubbles: true, cancelable: true }))`);
  await ready(2);
  await page.evaluate(`document.querySelector('#input').dispatchEvent(new ClipboardEvent('paste', { clipboardData: ${given('pasted.png')}, bubbles: true, cancelable: true }))`);
  await ready(3);
  if (PICTURES) await writeFile(join(PICTURES, `${PAGE_LANGUAGE}-upload.png`), await page.picture());
  await page.say('three of them', '#input');
  await page.until(`document.querySelectorAll('.msg.user img.picture').length === 3 && document.querySelector('.msg.assistant')?.innerText.includes('three of them') && document.getElementById('stop').hidden`);
  await page.until(`[...document.querySelectorAll('img.picture')].every(i => { i.loading = 'eager'; return i.complete && i.naturalWidth === 1; })`);
  const [turn] = await history(id);
  assert.deepEqual(turn.parts.filter(p => p.type === 'file').map(p => p.filename), ['chosen.png', 'dropped.png', 'pasted.png']);

  // What is too large is refused, and the message waits until the file is gone.
  await page.evaluate(`(() => { const dt = new DataTransfer(); dt.items.add(new File([new Uint8Array(1 << 21)], 'big.bin')); document.dispatchEvent(new DragEvent('drop', { dataTransfer: dt, bubbles: true, cancelable: true })); })()`);
  await page.until(`document.querySelector('#files li.error')?.innerText.includes(${JSON.stringify(says.tooLarge)})`);
  if (PICTURES) await writeFile(join(PICTURES, `${PAGE_LANGUAGE}-too-large.png`), await page.picture());
  await page.say('without it', '#input');
  await page.until(`document.querySelector('#link').innerText.includes(${JSON.stringify(says.refused)})`);
  await page.evaluate(`document.querySelector('#files button').click()`);
  await page.say('', '#input');
  await page.until(`[...document.querySelectorAll('.msg.assistant')].at(-1).innerText.includes('without it') && !document.querySelector('.live, .waiting') && document.getElementById('stop').hidden`);
  assert.equal((await history(id)).length, 4);
}
