// The host's own page in a real browser: commands, approvals in words and by button,
// outputs in pages. Nothing of a command is in the history.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openBrowser } from '../browser.mjs';
import { ask, assert, history, outline } from '../lib.mjs';

const { HOST_URL, PROJECT_DIR, PAGE_LANGUAGE, PICTURES } = process.env;

const says = {
  en: {
    browser: 'en-US', placeholder: 'Write a message', hello: 'hello there', help: '/status - shows whether I am working, and what waits', hint: '/status: ',
    idle: 'idle', none: 'Nothing is waiting', open: '#1', words: 'yes', obeyed: 'Approved.', approve: 'Approve', deny: 'Deny', denied: 'denied',
    page: [['/output', 'page 1 of'], ['/output 1 2', 'page 2 of'], ['/output 9', 'This conversation has no such tool output']], wrong: 'Send /output', fresh: 'We start afresh',
  },
  zh: {
    browser: 'zh-CN', placeholder: '输入消息', hello: '你好', help: '/status - 查看我是否在处理、有什么在等待', hint: '/status: ',
    idle: '空闲', none: '没有等待你决定的请求', open: '#1', words: '同意', obeyed: '已批准', approve: '批准', deny: '拒绝', denied: '已拒绝',
    page: [['/output', '第 1 页'], ['/output 1 2', '第 2 页'], ['/output 9', '没有这样的工具输出']], wrong: '发送 /output', fresh: '已开始新的对话',
  },
}[PAGE_LANGUAGE];

export default async function () {
  const browser = await openBrowser(says.browser);
  try {
    await use(browser);
    assert.deepEqual(browser.faults, [], 'the page reported errors');
  } catch (error) {
    throw new Error(`the page shows: ${await browser.evaluate('document.querySelector("#messages").innerText.slice(-2000)')}`, { cause: error });
  } finally {
    await browser.close();
  }
}

const rows = `document.querySelectorAll('#messages > li').length`;
const last = `document.querySelector('#messages > li:last-child')`;
const rest = `!document.querySelector('.live, .waiting') && document.getElementById('stop').hidden`;
const file = name => readFile(join(PROJECT_DIR, name), 'utf8').catch(() => '');

async function use(page) {
  const id = `page-${PAGE_LANGUAGE}`;
  const say = async (text, answer) => {
    const before = await page.evaluate(rows);
    await page.say(text, '#input');
    await page.until(`${rows} >= ${before + 2} && ${last}.classList.contains('assistant') && ${last}.innerText.includes(${JSON.stringify(answer)}) && ${rest}`);
  };
  const picture = async name => PICTURES && writeFile(join(PICTURES, `${PAGE_LANGUAGE}-${name}.png`), await page.picture());

  await page.open(`${HOST_URL}/#/c/${id}`);
  await page.until(`document.querySelector('#input').placeholder === ${JSON.stringify(says.placeholder)}`);
  await say(says.hello, says.hello); // the model repeats it, and the host knows the language
  await page.evaluate(`(() => { const i = document.querySelector('#input'); i.value = '/sta'; i.dispatchEvent(new Event('input')); })()`);
  await page.until(`document.querySelector('#commands').innerText.includes(${JSON.stringify(says.hint)})`);
  await page.evaluate(`document.querySelector('#input').value = ''`);
  await say('/help', says.help);
  await say('/status', says.idle);
  await say('/approvals', says.none);
  await picture('commands');

  // Outputs of a tool, page by page.
  await say(`${says.hello}|#read_file {"path":"long.txt"}`, 'the tool gave');
  for (const [order, answer] of says.page) await say(order, answer);
  await say('/output all of it', says.wrong);
  await picture('output');

  // A request, approved in words.
  const request = async name => {
    await page.say(`${says.hello}|#write_file {"path":"${name}","content":"written"}`, '#input');
    await page.until(`document.querySelectorAll('.approval-requested').length === 1 && document.querySelector('.approval-requested').innerText.includes(${JSON.stringify(name)}) && ${rest}`);
    assert.equal(await file(name), '', 'nothing runs before the decision');
  };
  await request('words.txt');
  await say('/approvals', says.open);
  await picture('approval');
  await page.say(says.words, '#input');
  await page.until(`document.querySelector('#messages').innerText.includes(${JSON.stringify(says.obeyed)})`);
  await page.until(`document.querySelectorAll('.approval-requested').length === 0 && document.querySelector('#messages').innerText.match(/the tool gave .*words\\.txt/) && ${rest}`);
  assert.equal(await file('words.txt'), 'written');

  // One approved by its button, and one denied.
  await request('button.txt');
  await page.click(says.approve);
  await page.until(`document.querySelectorAll('.approval-requested').length === 0 && document.querySelector('#messages').innerText.match(/the tool gave .*button\\.txt/) && ${rest}`);
  assert.equal(await file('button.txt'), 'written');
  await request('denied.txt');
  await page.click(says.deny);
  await page.until(`document.querySelectorAll('.approval-requested').length === 0 && document.querySelector('.output-denied')?.innerText.includes(${JSON.stringify(says.denied)}) && ${rest}`);
  assert.equal(await file('denied.txt'), '');
  await picture('decided');

  const turns = outline(await history(id)).filter(line => line.startsWith('u:'));
  assert.ok(!turns.some(line => /^u:(\/|yes|同意)/.test(line)), `a command is in the history: ${turns}`);

  await page.say('/new', '#input'); // what is shown then is the new history, and the commands
  await page.until(`document.querySelector('#messages').innerText.includes(${JSON.stringify(says.fresh)}) && ![...document.querySelectorAll('#messages > li.user')].some(row => row.innerText.includes('long.txt'))`);
  await ask('GET', `/api/chat/${id}`, 404); // nothing is left in it
  await say(says.hello, says.hello);
  assert.deepEqual(outline(await history(id)).filter(line => line.startsWith('u:')), [`u:${says.hello}`]);
}
