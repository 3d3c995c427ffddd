// An unmodified useChat in a real browser: one stream from the first word to the last, through
// other contexts and a full window; a provider's answer that breaks off; and the reason of every end.
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ask, assert, history, outline, pass, reached } from '../lib.mjs';
import { chinese, error, last, rows, status, withPages } from '../usechat.mjs';

const { PROJECT_DIR } = process.env;
const lateBy = 30_000; // of the minute in which a stream that was cut can be resumed

export default () => withPages(async ({ page, another }) => {
  const late = await hiccup(page, another);
  await agentSwitches(page);
  await personSwitches(page, another);
  await windowOverflows(page);
  await reasons(page);
  await late();
});

/** The stream of this message was never cut, and no text of it was taken back or shown twice. */
async function oneStream(page, answer) {
  const seen = await page.seen();
  const texts = seen.filter(s => s.status === 'streaming').map(s => s.last);
  assert.deepEqual(seen.filter(s => s.error || s.status === 'error'), []);
  for (const [i, text] of texts.entries()) assert.ok(i === 0 || text.startsWith(texts[i - 1]), `text went back: ${texts}`);
  assert.match(await page.evaluate(last), answer);
  assert.deepEqual(await page.finishes(), ['stop'], 'one stream, which ended well');
}

/** The page shows the same after a reload. */
async function sameAfterReload(page, id) {
  const shown = await page.evaluate(rows);
  await page.load(id);
  assert.deepEqual(await page.evaluate(rows), shown, 'after a reload');
}

/** Sends a message and looks at the one stream that answers it. */
async function answered(page, text, answer) {
  await page.seen();
  await page.finishes();
  await page.send(text);
  await oneStream(page, answer);
}

/** The agent begins a new context, and goes back to the old one. */
async function agentSwitches(page) {
  const id = 'agent-switches';
  await page.load(id);
  await answered(page, 'an earlier turn', /^\[step-start\]an earlier turn$/);
  await answered(page, 'before |#chat_context_new {}', /^\[step-start\]before \[tool-chat_context_new\]\[step-start\]the tool gave .*archivedAs/);
  const { output: { archivedAs } } = await page.evaluate(`chat.messages.at(-1).parts.find(p => p.type === 'tool-chat_context_new')`);
  await answered(page, `back |#chat_context_load ${JSON.stringify({ contextId: archivedAs })}`, /^\[step-start\]back \[tool-chat_context_load\]\[step-start\]the tool gave /);
  assert.equal(await page.evaluate('chat.messages.length'), 6, 'the page keeps what it had');
  await page.load(id);
  assert.ok((await page.evaluate(rows)).includes('an earlier turn'), 'the old context is there again');
  assert.match(await page.evaluate(last), /^\[step-start\]back \[tool-chat_context_load\]\[step-start\]the tool gave /);
}

/** A person asks for a new context in another window while an answer streams, and again when it is complete. */
async function personSwitches(page, another) {
  const id = 'person-switches';
  const tidy = await another();
  await tidy.load(id);
  await page.load(id);
  await page.seen();
  await page.finishes();
  await page.chat('sendMessage', { text: 'one |@person|two' });
  await reached('person');
  await page.until(`${status('streaming')} && ${last} === '[step-start]one '`);
  const other = await another();
  await other.load(id, { state: 'streaming' });
  await tidy.send('/new');
  assert.match(await tidy.evaluate(last), /^I am still working on something here\./);
  await pass('person');
  for (const reader of [page, other]) await reader.until(`${status('ready')} && ${last} === '[step-start]one two'`);
  await oneStream(page, /^\[step-start\]one two$/);
  assert.deepEqual(await other.finishes(), ['stop'], 'so it is for a page that resumed');
  await tidy.send('/new');
  assert.match(await tidy.evaluate(last), /^We start afresh\./);
  assert.equal(await tidy.evaluate(error), '');
  await page.load(id);
  assert.deepEqual(await page.evaluate(rows), [], 'nothing is left in the new context');
  await answered(page, 'and on', /^\[step-start\]and on$/);
}

/** The window is too small for the request, in the first step and in a later one of the same run. */
async function windowOverflows(page) {
  const id = 'window';
  await page.load(id);
  for (let n = 0; n < 8; n++) await page.send(`words ${n} ${'and more '.repeat(300)}`);
  await answered(page, '!long|short enough', /^\[step-start\]short enough$/);
  assert.equal(await page.evaluate('chat.messages.length'), 18, 'the page keeps what it had');
  await writeFile(join(PROJECT_DIR, 'large.txt'), '|!long|');
  await answered(page, 'first |#read_file {"path":"large.txt"}', /^\[step-start\]first \[tool-read_file\]\[step-start\]the tool gave /);
}

/** A provider's answer breaks off after some words, and comes in other words. Returns what the last reader does later. */
async function hiccup(page, another) {
  const id = 'hiccup';
  const words = chinese ? '模型的回答中途断开，正在重新生成。请刷新聊天查看。' : "The model's answer broke off and is being written anew. Load the chat again to see it.";
  const script = 'shared |@readers|!other|void |@anew|whole';
  await page.load(id);
  await page.chat('sendMessage', { text: script });
  await reached('readers');
  const [soon, later] = [await another(), await another()];
  for (const reader of [soon, later]) await reader.load(id, { state: 'streaming' });
  await pass('readers');
  for (const reader of [page, soon, later]) {
    await reader.until(`${status('error')} && ${last} === '[step-start]shared void ' && ${error} === ${JSON.stringify(words)}`);
  }
  await reached('anew');

  // While it is written anew, resuming takes the void words away.
  await soon.seen();
  await soon.chat('resumeStream');
  await soon.until(`${status('streaming')} && ${last} === '[step-start]shared ' && ${error} === ''`);
  const between = await soon.seen();
  await pass('anew');
  await soon.until(`${status('ready')} && ${last} === '[step-start]shared whole'`);
  assert.ok(!between.some(s => s.status === 'ready'), 'it resumed the message in progress');
  assert.deepEqual(await soon.finishes(), ['failed', 'stop']);
  while ((await history(id)).length < 2) await new Promise(resolve => setTimeout(resolve, 20));
  const end = Date.now();

  // When it is complete, resuming brings it once.
  const resumed = async reader => {
    await reader.seen();
    await reader.done('resumeStream');
    assert.deepEqual([await reader.evaluate(rows), await reader.evaluate(error)], [[script, '[step-start]shared whole'], '']);
    assert.ok(!(await reader.seen()).some(s => s.last.includes('void whole')), 'the void words are replaced');
    assert.deepEqual(await reader.finishes(), ['failed', 'stop']);
  };
  await resumed(page);
  return async () => {
    assert.equal(await later.evaluate(last), '[step-start]shared void ');
    await new Promise(resolve => setTimeout(resolve, end + lateBy - Date.now()));
    await resumed(later);
    await later.done('resumeStream');
    assert.deepEqual(await later.evaluate(rows), [script, '[step-start]shared whole']);
    assert.deepEqual(await later.finishes(), [], 'every reader has it');
    await sameAfterReload(later, id);
    assert.deepEqual(outline(await history(id)), [`u:${script}`, 'a:shared whole']);
  };
}

/** However an answer ends, its finish has the reason. */
async function reasons(page) {
  const reasonOf = async (id, act) => {
    await page.load(id);
    await page.finishes();
    await act();
    await page.until(`window.finishes.length === 1`);
    return (await page.finishes())[0];
  };
  assert.equal(await reasonOf('plain', () => page.send('hello')), 'stop');
  assert.equal(await reasonOf('plain', () => page.done('regenerate')), 'stop');
  assert.equal(await reasonOf('plain', () => page.send('/status')), 'stop');
  assert.equal(await reasonOf('nothing-new', () => page.send('#nope {}')), 'stop');
  assert.equal(await reasonOf('asks', () => page.send('I ask |#write_file {"path":"asked.txt","content":"written"}')), 'tool-calls');
  assert.equal(await reasonOf('asks', async () => {
    const id = await page.evaluate(`chat.messages.at(-1).parts.find(p => p.type === 'tool-write_file').approval.id`);
    await page.chat('addToolApprovalResponse', { id, approved: true });
  }), 'stop');
  assert.ok((await readdir(PROJECT_DIR)).includes('asked.txt'), 'the tool ran');
  assert.equal(await reasonOf('stopped', async () => {
    await page.chat('sendMessage', { text: 'said |@stopped|unsaid' });
    await reached('stopped');
    await page.until(`${last} === '[step-start]said '`);
    await ask('POST', '/api/chat/stopped/stop');
    await page.until(status('ready'));
  }), 'other');
  assert.equal(await page.evaluate(last), '[step-start]said ');
  assert.equal(await reasonOf('fails', () => page.send('!refuse')), 'failed');
}
