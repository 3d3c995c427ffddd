// An unmodified useChat in a real browser, of a person who reads English or Chinese.
import { openBrowser } from '../browser.mjs';
import { Chat, assert, history, outline, pass, reached } from '../lib.mjs';
import { servePage } from '../usechat.mjs';

const { REACT_EXAMPLE, HOST_URL, PAGE_LANGUAGE = 'en' } = process.env;
const chinese = PAGE_LANGUAGE === 'zh';

export default async function () {
  const server = await servePage(REACT_EXAMPLE, HOST_URL);
  const browser = await openBrowser(chinese ? 'zh-CN,zh' : 'en-US,en');
  try {
    const load = async id => {
      await browser.open('about:blank');
      await browser.open(`${server.url}/#${id}`);
      await browser.until(`${status('ready')} && window.chat`);
    };
    await oneStream(browser, load);
    await hiccup(browser, load);
    await otherWords(browser, load);
    await failed(browser, load);
    await refused(browser, load);
    await files(browser, load);
  } finally {
    server.close();
    await browser.close();
  }
}

const status = word => `document.getElementById('status')?.textContent === '${word}'`;
const last = `document.querySelector('ol li:last-child').textContent`;
const error = `document.getElementById('error').textContent`;
const say = (page, message) => page.evaluate(`chat.sendMessage(${JSON.stringify(message)}), 0`);
const ended = `(${status('ready')} || ${status('error')}) && chat.messages.at(-1).role === 'assistant'`;

/** Contexts are switched and a request is too long: the page notices nothing. */
async function oneStream(page, load) {
  await load('one-stream');
  for (let n = 0; n < 8; n++) {
    await page.evaluate(`chat.sendMessage({ text: 'words ${n} ' + 'and more '.repeat(300) })`);
  }
  await page.evaluate(`chat.sendMessage({ text: '!long|short enough' })`);
  assert.deepEqual([await page.evaluate(last), await page.evaluate(error)], ['[step-start]short enough', '']);
  await page.evaluate(`chat.sendMessage({ text: 'before |#chat_context_new {}' })`);
  assert.match(await page.evaluate(last), /^\[step-start\]before \[tool-chat_context_new\]\[step-start\]the tool gave /);
  assert.equal(await page.evaluate(error), '');
}

/** The provider's stream breaks off: resuming shows the message without the words that are void. */
async function hiccup(page, load) {
  await load('hiccup');
  const script = 'shared |!other|void |@browser|whole';
  await say(page, { text: script });
  await page.until(`${status('error')} && ${last}.includes('shared void ')`);
  await reached('browser');
  await pass('browser');
  while ((await history('hiccup')).length < 2) await new Promise(resolve => setTimeout(resolve, 20));
  assert.equal(await page.evaluate(error), chinese ? '模型的回答中途断开，正在重新生成。请刷新聊天查看。' : "The model's answer broke off and is being written anew. Load the chat again to see it.");
  await page.evaluate('chat.resumeStream()'); // the message ended before
  await page.until(`${status('ready')} && ${last} === '[step-start]shared whole'`);
  assert.equal(await page.evaluate('chat.messages.length'), 2);
  assert.equal(await page.evaluate(error), '');
}

async function otherWords(page, load) {
  await load('words');
  for (const text of ['one', 'two']) await page.evaluate(`chat.sendMessage({ text: '${text}' })`);
  await page.evaluate(`chat.setMessages(list => list.map((m, i) => i === 2 ? { ...m, parts: [{ type: 'text', text: 'zwei' }] } : m)), chat.regenerate()`);
  assert.deepEqual(outline(await history('words')), ['u:one', 'a:one', 'u:zwei', 'a:zwei']);
  assert.deepEqual(outline(await page.evaluate('chat.messages')), ['u:one', 'a:one', 'u:zwei', 'a:zwei']);
}

async function failed(page, load) {
  await load('failed');
  const words = chinese ? '模型拒绝回答这个内容。' : 'My model refused';
  await say(page, { text: chinese ? '!refuse|你好' : '!refuse' });
  await page.until(`${ended} && ${error}.startsWith(${JSON.stringify(words)}) && ${last}.includes(${JSON.stringify(words)})`);
  await load('failed');
  await page.until(`${last}.includes(${JSON.stringify(words)}) && ${error} === ''`);
}

async function refused(page, load) {
  await load('busy');
  await page.evaluate(`chat.sendMessage({ text: 'one' })`);
  const other = new Chat({ id: 'busy' });
  const sent = other.sendMessage({ text: 'busy |@busy|still' });
  await reached('busy');
  await page.evaluate('chat.regenerate()');
  assert.equal(await page.evaluate(error), chinese ? '这个聊天正在回答。请先停止，或等回答结束后再试。' : 'The chat is busy with an answer. Stop it or wait until it ends, then try again.');
  await pass('busy');
  await sent;
}

async function files(page, load) {
  await load('files');
  const file = { type: 'file', mediaType: 'text/plain', url: 'data:text/plain;base64,aGk=' };
  await page.evaluate(`chat.sendMessage(${JSON.stringify({ parts: [{ type: 'text', text: 'above' }, file, { type: 'text', text: 'below' }] })})`);
  await page.evaluate(`chat.sendMessage(${JSON.stringify({ parts: [file, { type: 'text', text: 'a caption' }] })})`);
  const shown = `[...document.querySelectorAll('ol li.user')].map(li => li.textContent)`;
  const want = ['above[file]below', '[file]a caption'];
  assert.deepEqual(await page.evaluate(shown), want);
  await load('files');
  await page.until(`document.querySelectorAll('ol li').length === 4`);
  assert.deepEqual(await page.evaluate(shown), want, 'after a reload');
}
