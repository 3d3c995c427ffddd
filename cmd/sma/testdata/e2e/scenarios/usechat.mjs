// An unmodified useChat in a real browser, of a person who reads English or Chinese.
import { assert, history, outline, pass, reached } from '../lib.mjs';
import { chinese, error, last, status, withPages } from '../usechat.mjs';

export default () => withPages(async ({ page, another }) => {
  await hiccup(page);
  await otherWords(page);
  await otherWordsEarlier(page);
  await failed(page, another);
  await files(page);
  await filesInOtherWords(page);
  await givenFiles(page);
});

/** The provider's stream breaks off: resuming shows the message without the words that are void. */
async function hiccup(page) {
  await page.load('hiccup');
  const script = 'shared |!other|void |@browser|whole';
  await page.chat('sendMessage', { text: script });
  await page.until(`${status('error')} && ${last}.includes('shared void ')`);
  await reached('browser');
  await pass('browser');
  while ((await history('hiccup')).length < 2) await new Promise(resolve => setTimeout(resolve, 20));
  assert.equal(await page.evaluate(error), chinese ? '模型的回答中途断开，正在重新生成。请刷新聊天查看。' : "The model's answer broke off and is being written anew. Load the chat again to see it.");
  await page.picture('hiccup');
  await page.evaluate('chat.resumeStream()'); // the message ended before
  await page.until(`${status('ready')} && ${last} === '[step-start]shared whole'`);
  assert.equal(await page.evaluate('chat.messages.length'), 2);
  assert.equal(await page.evaluate(error), '');
}

/** The host keeps these turns, and so does the page, now and after a reload. */
async function outlined(page, id, want) {
  for (const when of ['now', 'after a reload']) {
    assert.deepEqual(outline(await history(id)), want, `${when}: the host`);
    assert.deepEqual(outline(await page.evaluate('chat.messages')), want, `${when}: the page`);
    assert.equal(await page.evaluate(error), '');
    await page.load(id);
  }
}

/** The answer to other words was never the answer to the words before. */
async function reworded(page, texts, old, ...args) {
  await page.seen();
  await page.reword(texts, ...args);
  const answers = (await page.seen()).filter(s => s.status === 'streaming').map(s => s.last);
  assert.ok(answers.length > 0 && !answers.some(text => text.includes(old)), `the old words are answered: ${answers}`);
}

async function otherWords(page) {
  await page.load('words');
  for (const text of ['one', 'two']) await page.send(text);
  await reworded(page, { 2: 'zwei' }, 'two');
  await outlined(page, 'words', ['u:one', 'a:one', 'u:zwei', 'a:zwei']);
  await page.done('regenerate'); // the same words are asked again
  await outlined(page, 'words', ['u:one', 'a:one', 'u:zwei', 'a:zwei']);
}

async function otherWordsEarlier(page) {
  const id = 'words-earlier';
  await page.load(id);
  for (const text of ['one', 'two', 'three']) await page.send(text);
  await reworded(page, { 2: 'zwei' }, 'two', { messageId: await page.evaluate('chat.messages[3].id') });
  await outlined(page, id, ['u:one', 'a:one', 'u:zwei', 'a:zwei']);

  // An earlier question is another one, while the last answer is asked for.
  await page.reword({ 0: 'eins' });
  assert.deepEqual(outline(await history(id)), ['u:eins', 'a:eins'], 'what followed the other words is gone');

  // A page that makes a new message of it.
  await page.load(id);
  await page.evaluate(`chat.setMessages(list => [{ ...list[0], id: 'another', parts: [{ type: 'text', text: 'uno' }] }, list[1]]), chat.regenerate()`);
  assert.equal(await page.evaluate(error), chinese ? '没有这个聊天或消息，请刷新页面。' : 'There is no such chat or message.');
  assert.deepEqual(outline(await history(id)), ['u:eins', 'a:eins'], 'it follows no message of the chat');
  await page.load(id);
  await page.send('two');
  await page.evaluate(`chat.setMessages(list => [...list.slice(0, 2), { ...list[2], id: 'another', parts: [{ type: 'text', text: 'dos' }] }]), chat.regenerate()`);
  await outlined(page, id, ['u:eins', 'a:eins', 'u:dos', 'a:dos']);
}

const ended = `(${status('ready')} || ${status('error')}) && chat.messages.at(-1).role === 'assistant'`;

async function failed(page, another) {
  await page.load('failed');
  const words = chinese ? '模型拒绝回答这个内容。' : 'My model refused';
  await page.chat('sendMessage', { text: `@fails|!refuse|${chinese ? '你好' : 'hello'}` });
  await reached('fails');
  const other = await another();
  await other.load('failed', { state: 'submitted' }); // it resumes a message that has no words yet
  await pass('fails');
  for (const reader of [page, other]) {
    await reader.until(`${ended} && ${error}.startsWith(${JSON.stringify(words)}) && ${last}.includes(${JSON.stringify(words)})`);
  }
  const sentence = await page.evaluate(error);
  const shown = await page.evaluate(`chat.messages.at(-1).parts.filter(p => p.type === 'text').map(p => p.text)`);
  assert.equal(shown.at(-1).trim(), sentence, 'the message ends with the sentence');
  assert.equal(shown.join('').split(sentence).length, 2, 'the sentence is there once');
  assert.equal(await other.evaluate(error), sentence);
  assert.equal(await other.evaluate(last), await page.evaluate(last), 'both windows show the same');
  await page.picture('failed');
  for (const reader of [page, other]) {
    await reader.load('failed');
    await reader.until(`${last}.includes(${JSON.stringify(words)}) && ${error} === ''`);
    assert.deepEqual(await reader.evaluate(`chat.messages.at(-1).parts.filter(p => p.type === 'text').map(p => p.text)`), shown, 'after a reload');
  }
  await page.picture('failed-reloaded');
  await page.send('and on');
  assert.deepEqual([await page.evaluate(last), await page.evaluate(error)], ['[step-start]and on', '']);
}

const file = { type: 'file', mediaType: 'text/plain', url: 'data:text/plain;base64,aGk=' };
const users = `[...document.querySelectorAll('ol li.user')].map(li => li.textContent)`;

async function files(page) {
  await page.load('files');
  await page.send({ parts: [{ type: 'text', text: 'above' }, file, { type: 'text', text: 'below' }] });
  await page.send({ parts: [file, { type: 'text', text: 'a caption' }] });
  const want = ['above[file]below', '[file]a caption'];
  assert.deepEqual(await page.evaluate(users), want);
  await page.load('files');
  await page.until(`document.querySelectorAll('ol li').length === 4`);
  assert.deepEqual(await page.evaluate(users), want, 'after a reload');
}

const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** The words around a picture are others, and the answer is asked for again: the picture stays between them. */
async function filesInOtherWords(page) {
  const id = 'files-words';
  const picture = { type: 'file', mediaType: 'image/png', filename: 'dot.png', url: `data:image/png;base64,${dot}` };
  await page.load(id);
  await page.send({ parts: [{ type: 'text', text: 'over' }, picture, { type: 'text', text: 'under' }] });
  const same = async (want, answer) => {
    for (const when of ['now', 'after a reload']) {
      assert.deepEqual(await page.evaluate(users), [want], when);
      assert.ok((await page.evaluate(last)).includes(answer), `${when}: ${await page.evaluate(last)}`);
      await page.load(id);
    }
    const bytes = await page.evaluate(`fetch(chat.messages[0].parts.find(p => p.type === 'file').url).then(r => r.arrayBuffer()).then(b => btoa(String.fromCharCode(...new Uint8Array(b))))`);
    assert.equal(bytes, dot, 'the page fetches what was sent');
  };
  await same('over[file]under', 'over');
  await page.done('regenerate');
  await same('over[file]under', 'over');
  await page.reword({ 0: 'other' });
  await same('other[file]other', 'other');
}

/** A file that the agent gives has its place after the call, live and after a reload. */
async function givenFiles(page) {
  const id = 'given-files';
  await page.load(id);
  await page.send('Look |#chat_send_file {"path":"report.txt"}');
  const request = await page.evaluate(`chat.messages.at(-1).parts.find(p => p.type === 'tool-chat_send_file').approval.id`);
  await page.chat('addToolApprovalResponse', { id: request, approved: true });
  await page.until(`${status('ready')} && ${last}.includes('the tool gave')`);
  const shown = /^\[step-start\]Look \[tool-chat_send_file\]\[data-sent-file\]\[step-start\]the tool gave /;
  assert.match(await page.evaluate(last), shown);
  await page.load(id);
  assert.match(await page.evaluate(last), shown, 'after a reload');
  assert.equal(await page.evaluate(`fetch(chat.messages.at(-1).parts.find(p => p.type === 'data-sent-file').data.url).then(r => r.text())`), 'a report');
}
