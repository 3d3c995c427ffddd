// What the pictures of docs/images show: a request that is open while the host is killed,
// both decisions, an upload that is taken and one that is refused, a new title, and the
// deletion of the chat. All of it with the keys alone, but for the files.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openBrowser } from '../browser.mjs';
import { ask, assert, control, history, pass, reached } from '../lib.mjs';

const { HOST_URL, PROJECT_DIR, PAGE_LANGUAGE, PICTURES } = process.env;
const says = {
  en: {
    browser: 'en-US', water: 'Please put watering the roses on Friday on my list.', done: 'Friday: water the roses', approve: 'Approve', approved: 'done',
    empty: 'And empty the list of last year.', left: 'All right', deny: 'Deny', denied: 'Write a file denied', see: 'What do you see?', seen: 'Three red dots',
    waits: 'Waiting for your decision.', refused: 'too large: at most 1 MB', rename: 'Rename', title: 'Roses', forget: 'Delete', gone: 'The chat was deleted.',
  },
  zh: {
    browser: 'zh-CN', water: '请把“周五给玫瑰浇水”加到我的清单里。', done: '周五：给玫瑰浇水', approve: '批准', approved: '完成',
    empty: '再清空去年的清单。', left: '好的', deny: '拒绝', denied: '写入文件 已拒绝', see: '你看到了什么？', seen: '浅色背景上有三个红点',
    waits: '等待你的决定。', refused: '文件过大，最多 1 MB', rename: '重命名', title: '玫瑰', forget: '删除', gone: '聊天已删除。',
  },
}[PAGE_LANGUAGE];

export default async function () {
  const browser = await openBrowser(says.browser);
  try {
    await use(browser);
    assert.deepEqual(browser.faults, [], 'the page reported errors');
  } catch (error) {
    throw new Error(`the page shows: ${await browser.evaluate('document.body.innerText.slice(-2000)')}`, { cause: error });
  } finally {
    await browser.close();
  }
}

const rest = `!document.querySelector('.live, .waiting') && document.getElementById('stop').hidden`;
const last = `document.querySelector('#messages > li:last-child')`;
const file = name => readFile(join(PROJECT_DIR, name), 'utf8').catch(() => '');
const has = (element, text) => `${element}?.innerText.includes(${JSON.stringify(text)})`;

async function use(page) {
  const id = `roses-${PAGE_LANGUAGE}`;
  const picture = async name => PICTURES && writeFile(join(PICTURES, `${PAGE_LANGUAGE === 'en' ? '' : `${PAGE_LANGUAGE}-`}${name}.png`), await page.picture());
  const english = async name => PAGE_LANGUAGE === 'en' && picture(name);
  // The Tab key goes to a button, from wherever the focus is.
  const goTo = async label => {
    for (let n = 0; n < 60; n++) {
      if (await page.evaluate(`document.activeElement.textContent === ${JSON.stringify(label)}`)) return;
      await page.press('Tab');
    }
    assert.fail(`the Tab key does not reach ${label}`);
  };
  const request = async words => {
    await page.say(words, '#input');
    await page.until(`document.querySelectorAll('.approval-requested .when').length === 1 && ${rest}`);
  };

  await page.resize(1100, 760);
  await page.open(`${HOST_URL}/#/c/${id}`);
  await page.until(`document.querySelector("#input")?.placeholder`);
  await request(says.water);
  await picture('request');
  await page.resize(390, 800);
  await english('request-phone');
  await page.resize(1100, 760);

  // The host dies and comes back; so does the page, and the request is there.
  await control('/kill');
  await page.until(`document.getElementById('link').hidden && ${has(last, says.waits)} && document.querySelectorAll('.approval-requested .when').length === 1`);
  assert.equal(await file('garden.md'), '', 'nothing runs before the decision');
  await goTo(says.approve);
  await page.press('Enter');
  await page.until(`${has(last, says.done)} && !document.querySelector('.approval-requested') && ${rest}`);
  assert.match(await file('garden.md'), new RegExp(says.done));

  await page.evaluate(`document.querySelector('.output-available').open = true`);
  await english('approved');
  await page.evaluate(`document.querySelector('.output-available').open = false`);

  await request(says.empty);
  await goTo(says.deny);
  await page.press('Enter');
  await reached('decided');
  await new Promise(resolve => setTimeout(resolve, 500)); // the answer takes longer than the page waits to read a decision
  if (PAGE_LANGUAGE === 'zh') { // a page that is opened during the answer does not know yet what the request was about
    await page.evaluate('location.reload()');
    await page.until(`${has(last, says.empty)} || document.querySelector('.live')`);
  }
  await pass('decided');
  await page.until(`${has(last, says.left)} && ${has(`${last}.querySelector('.output-denied')`, says.denied)} && ${rest}`);
  await english('denied');

  await upload(page, english);

  await goTo(says.rename);
  await page.press('Enter');
  await page.until(`document.getElementById('ask').open && document.activeElement.id === 'answer'`);
  await page.evaluate(`document.getElementById('answer').select()`);
  await english('rename');
  await page.say(says.title, '#answer');
  await page.until(`document.querySelector('#chats a')?.innerText === ${JSON.stringify(says.title)}`);

  await goTo(says.forget);
  await page.press('Enter');
  await page.until(`document.getElementById('ask').open && ${has(`document.getElementById('ask')`, says.title)}`);
  await picture('delete');
  await page.press('Escape');
  await page.until(`!document.getElementById('ask').open && document.activeElement.id === 'forget'`);
  assert.equal((await history(id)).length, 6);
  await page.press('Enter');
  await page.until(`document.getElementById('ask').open`);
  await page.press('Tab');
  await page.press('Enter');
  await page.until(`!document.querySelector('#messages > li, #chats a') && ${has(`document.getElementById('state')`, says.gone)}`);
  await ask('GET', `/api/chat/${id}`, 404);
  await english('deleted');
  await page.say(says.see, '#input'); // in the chat that is begun then
  await page.until(`${has(last, says.seen)} && ${rest}`);
}

async function upload(page, english) {
  const give = make => page.evaluate(`(async () => {
    const dt = new DataTransfer();
    dt.items.add(await (${make})());
    const pick = document.querySelector('#pick');
    pick.files = dt.files;
    pick.dispatchEvent(new Event('change'));
  })()`);
  await give(`async () => {
    const canvas = Object.assign(document.createElement('canvas'), { width: 240, height: 120 });
    const to = canvas.getContext('2d');
    to.fillStyle = '#e9f3e4';
    to.fillRect(0, 0, 240, 120);
    to.fillStyle = '#c4314b';
    for (const x of [60, 120, 180]) { to.beginPath(); to.arc(x, 60, 20, 0, 7); to.fill(); }
    return new File([await new Promise(done => canvas.toBlob(done))], 'roses.png', { type: 'image/png' });
  }`);
  await page.until(`${has(`document.querySelector('#files li')`, 'roses.png')} && !${has(`document.querySelector('#files li')`, '%')}`);
  await english('upload');
  await page.say(says.see, '#input');
  await page.until(`${has(last, says.seen)} && [...document.querySelectorAll('img.picture')].every(i => { i.loading = 'eager'; return i.complete && i.naturalWidth === 240; }) && ${rest}`);
  await give(`async () => new File([new Uint8Array(1 << 21)], 'garden-film.mp4')`);
  await page.until(has(`document.querySelector('#files li.error [role=alert]')`, says.refused));
  await english('upload-refused');
  await page.evaluate(`document.querySelector('#files button').click()`);
}
