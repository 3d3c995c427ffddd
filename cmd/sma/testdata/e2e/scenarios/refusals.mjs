// A refusal is a sentence in the reader's language, and nothing else; so is the end of a
// run that failed, which is in the message also when the page is loaded again.
import { Chat, assert, open, outline, pass, reached, sameAsHost, sdk, textOf } from '../lib.mjs';

const { HOST_URL } = process.env;
const inLanguage = language => new sdk.DefaultChatTransport({ api: `${HOST_URL}/api/chat`, headers: { 'accept-language': language } });

export default async function () {
  const chat = new Chat({ id: 'refused' });
  const sent = chat.sendMessage({ text: 'busy |@mid|still' });
  await reached('mid');
  for (const [language, words] of [
    ['en-US,en', 'The chat is busy with an answer. Stop it or wait until it ends, then try again.'],
    ['zh-CN,zh', '这个聊天正在回答。请先停止，或等回答结束后再试。'],
  ]) {
    const other = new Chat({ id: 'refused', messages: chat.messages.slice(0, 1), transport: inLanguage(language) });
    await other.regenerate();
    assert.equal(other.error.message, words);
  }
  await pass('mid');
  await sent;

  for (const [language, long, large] of [
    ['en', /^This text is too long to send\. /, /^This is too large to send\. /],
    ['zh', /^文字太长，无法发送。/, /^内容太大，无法发送。/],
  ]) {
    for (const [megabytes, words] of [[9, long], [40, large]]) { // files of 20 MB are taken, so a body may hold more than a text
      const refused = new Chat({ id: 'large', transport: inLanguage(language) });
      await refused.sendMessage({ text: 'x'.repeat(megabytes << 20) });
      assert.match(refused.error.message, words);
    }
  }

  for (const [id, text, words] of [['failed', '!refuse', /^My model refused/], ['failed-zh', '!refuse|你好', /^模型拒绝/]]) {
    const failing = new Chat({ id });
    await failing.sendMessage({ text });
    assert.match(failing.error.message, words);
    assert.match(textOf(failing.lastMessage), words);
    await sameAsHost(failing);
    const later = await open(id);
    assert.deepEqual(outline(later.messages), outline(failing.messages), 'the same after a reload');
    await later.resumeStream();
    assert.equal(later.status, 'ready');
    await later.sendMessage({ text: 'and on' });
    assert.equal(later.answer, 'and on');
    await sameAsHost(later);
  }
}
