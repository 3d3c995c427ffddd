// What the host does not do is a sentence in an unmodified useChat, in the language of its reader.
import { Chat, assert, pass, reached } from '../lib.mjs';
import { chinese, error, rows, servePage, status, withPages } from '../usechat.mjs';

const { REACT_EXAMPLE, DIRECT_URL } = process.env;

export default () => withPages(async ({ page, another }) => {
  await busy(page);
  await refused(page);
  await decidedAlready(page, another);
  await notLoggedIn(page);
});

async function busy(page) {
  const words = chinese ? '这个聊天正在回答。请先停止，或等回答结束后再试。' : 'The chat is busy with an answer. Stop it or wait until it ends, then try again.';
  await page.load('busy');
  await page.send('one');
  const other = new Chat({ id: 'busy' });
  const sent = other.sendMessage({ text: 'busy |@busy|still' });
  await reached('busy');
  await page.evaluate('chat.regenerate()');
  assert.equal(await page.evaluate(error), words);
  await page.picture('busy');
  await page.evaluate(`chat.clearError(), chat.sendMessage({ text: 'uno', messageId: chat.messages[0].id })`);
  assert.equal(await page.evaluate(error), words, 'an edit');
  await pass('busy');
  await sent;
}

/** Each refusal is a sentence, and nothing else is shown as the error. */
async function refused(page) {
  const file = { type: 'file', mediaType: 'text/plain', url: 'data:text/plain;base64,aGk=' };
  const link = { ...file, url: 'https://example.com/file.txt' };
  for (const [message, english, zh] of [
    [JSON.stringify({ parts: [link] }), 'Files are sent as data URLs, or uploaded to this chat first.', '文件须以 data URL 的形式发送，或先上传到这个聊天。'],
    [JSON.stringify({ parts: [{ ...file, url: 'data:text/plain;base64,%' }] }), 'A file of a message cannot be read: it is no data URL.', '消息里的文件无法读取：它不是 data URL。'],
    [JSON.stringify({ parts: Array(11).fill(file) }), 'A message holds at most 10 files.', '一条消息最多带 10 个文件。'],
    [JSON.stringify({ parts: [] }), 'The message is empty.', '消息为空。'],
  ]) {
    await page.load('refused');
    await page.evaluate(`chat.sendMessage(${message})`);
    const [shown, want] = [await page.evaluate(error), chinese ? zh : english];
    assert.equal(shown, want);
    await page.load('refused');
    assert.deepEqual(await page.evaluate(rows), [], `nothing of it was taken: ${shown}`);
  }

  // An address that is no chat is refused when the page resumes, and when it sends.
  const words = chinese ? '聊天编号须为 1 到 256 字节的文本，不含控制字符。' : 'A chat id is 1 to 256 bytes of text without control characters.';
  await page.load('x'.repeat(300), { state: 'error' });
  assert.equal(await page.evaluate(error), words);
  await page.evaluate(`chat.clearError(), chat.sendMessage({ text: 'hello' })`);
  assert.equal(await page.evaluate(error), words);
}

/** A page that does not know of a newer turn decides what was decided: it is told so once. */
async function decidedAlready(page, another) {
  await page.load('decided');
  await page.send('I ask |#write_file {"path":"decided.txt","content":"written"}');
  const other = await another();
  await other.load('decided');
  await other.send('a newer turn');
  const id = await page.evaluate(`chat.messages.at(-1).parts.find(p => p.type === 'tool-write_file').approval.id`);
  await page.chat('addToolApprovalResponse', { id, approved: true });
  await page.until(status('error'));
  assert.equal(await page.evaluate(error), chinese ? '这个请求已有决定。请刷新聊天查看结果。' : 'This was decided already. Load the chat again to see what came of it.');
}

/** A page whose person is not logged in. */
async function notLoggedIn(page) {
  const server = await servePage(REACT_EXAMPLE, DIRECT_URL);
  try {
    await page.load('stranger', { from: server.url, state: 'error' });
    await page.evaluate(`chat.clearError(), chat.sendMessage({ text: 'hello' })`);
    assert.match(await page.evaluate(error), chinese ? /^尚未登录。请打开 sma link 命令显示的链接/ : /^You are not logged in here\. Open the link that "sma link" prints/);
  } finally {
    server.close();
  }
}
