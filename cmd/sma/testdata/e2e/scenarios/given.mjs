// Files that the agent gives: an unmodified useChat gets a data part for each, once they
// are agreed to, and the page shows pictures and links, also after a reload. The folder of
// a file can be agreed to in words.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openBrowser } from '../browser.mjs';
import { Chat, assert, callsOf, decided, decides, history, sameAsHost } from '../lib.mjs';

const { HOST_URL, PAGE_LANGUAGE, PICTURES } = process.env;
const says = {
  en: { browser: 'en-US', folder: '/approve 1 folder also allows all files directly in the folder “out”', allowed: 'For 60 minutes', size: '25 bytes', approve: 'Approve' },
  zh: { browser: 'zh-CN', folder: '发送 /approve 1 folder 则在 60 分钟内同时允许', allowed: '60 分钟内', size: '25', approve: '批准' },
}[PAGE_LANGUAGE];
const give = path => `Look|#chat_send_file ${JSON.stringify({ path })}`;

export default async function () {
  await byStream();
  const browser = await openBrowser(says.browser);
  try {
    await byPage(browser);
    assert.deepEqual(browser.faults, [], 'the page reported errors');
  } finally {
    await browser.close();
  }
}

async function byStream() {
  const chat = new Chat({ id: `given-${PAGE_LANGUAGE}`, ...decides });
  await chat.sendMessage({ text: give('out/report.html') });
  const [call] = callsOf(chat.lastMessage);
  assert.equal(call.state, 'approval-requested');
  await decided(chat, JSON.parse(JSON.stringify(call)), true);
  const parts = chat.lastMessage.parts.filter(p => p.type === 'data-sent-file');
  assert.equal(parts.length, 1, JSON.stringify(chat.lastMessage.parts));
  const { url, ...about } = parts[0].data;
  assert.deepEqual(about, { name: 'report.html', mediaType: 'text/html', bytes: 25 });
  const got = await fetch(url);
  assert.equal(await got.text(), '<script>alert(1)</script>');
  assert.match(got.headers.get('content-disposition'), /^attachment/);
  await sameAsHost(chat);
  await chat.sendMessage({ text: give('out/report.html') });
  assert.equal(chat.lastMessage.parts.filter(p => p.type === 'data-sent-file').length, 1, 'the same bytes ask nobody');
  await sameAsHost(chat);
}

async function byPage(page) {
  const id = `shown-${PAGE_LANGUAGE}`;
  const picture = async name => { if (PICTURES) await writeFile(join(PICTURES, `${PAGE_LANGUAGE}-given-${name}.png`), await page.picture()); };
  await page.open(`${HOST_URL}/#/c/${id}`);
  await page.until(`document.querySelector('#attach').getAttribute('aria-label')`);
  await page.say(give('out/chart.png'), '#input');
  await page.until(`document.querySelector('.approval-requested')?.innerText.includes(${JSON.stringify(says.folder)})`);
  await picture('asked');
  await page.say('/approve 1 folder', '#input');
  await page.until(`document.querySelector('#messages').innerText.includes(${JSON.stringify(says.allowed)})`);
  await page.until(`document.querySelectorAll('.sent img.picture').length === 1 && document.getElementById('stop').hidden`);
  await page.say(give('out/report.html'), '#input');
  const both = `document.querySelectorAll('.sent img.picture').length === 1 && [...document.querySelectorAll('.sent a[download]')].some(a => a.download === 'report.html')
    && [...document.querySelectorAll('.sent figcaption')].some(c => c.innerText.includes(${JSON.stringify(says.size)})) && document.getElementById('stop').hidden`;
  await page.until(both);
  await page.until(`[...document.querySelectorAll('img.picture')].every(i => { i.loading = 'eager'; return i.complete && i.naturalWidth === 1; })`);
  await picture('shown');
  await page.open('about:blank');
  await page.open(`${HOST_URL}/#/c/${id}`);
  await page.until(both);
  await picture('again');
  assert.equal((await history(id)).flatMap(m => m.parts).filter(p => p.type === 'data-sent-file').length, 2);
}
