// One stream from the first word to the last, whatever happens between: the agent
// switches its context, a person begins a new one, and a provider finds the request too
// long, so that the history is summarised and the step is asked for again.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Chat, assert, callsOf, grew, outline, pass, reached, sameAsHost } from '../lib.mjs';

export default async function () {
  await switched();
  await tooLong();
  await begunAnew();
}

/** The agent itself begins a new context, and goes back to the old one. */
async function switched() {
  const chat = new Chat({ id: 'switch' });
  await chat.sendMessage({ text: 'an earlier turn' });
  await say(chat, 'before |#chat_context_new {}');
  assert.match(chat.answer, /^before the tool gave /);
  const contextId = callsOf(chat.lastMessage)[0].output.archivedAs;
  await say(chat, `back |#chat_context_load ${JSON.stringify({ contextId })}`);
  assert.match(chat.answer, /^back the tool gave /);
  // The whole message is there once, though two runs made it.
  assert.equal(callsOf(chat.lastMessage).length, 1);
  await sameAsHost(new Chat({ id: chat.id, messages: await kept(chat.id) }));
}

/** A request that is too long, in the first step and in a later one. */
async function tooLong() {
  const chat = new Chat({ id: 'long' });
  for (let n = 0; n < 8; n++) await chat.sendMessage({ text: `words ${n} ${'and more '.repeat(300)}` });
  await say(chat, '!long|short enough');
  assert.equal(chat.answer, 'short enough');
  await writeFile(join(process.env.PROJECT_DIR, 'large.txt'), '|!long|');
  await say(chat, 'first |#read_file {"path":"large.txt"}');
  assert.match(chat.answer, /^first the tool gave /);
}

/** A person begins a new context while an answer is under way. */
async function begunAnew() {
  const chat = new Chat({ id: 'new' });
  const sent = chat.sendMessage({ text: 'one |@new|two' });
  await reached('new');
  await chat.untilText('one ');
  const other = new Chat({ id: 'new' });
  const ordered = other.sendMessage({ text: '/new' });
  await pass('new');
  await ordered;
  await sent;
  assert.deepEqual([...chat.errors, ...other.errors], []);
  assert.equal(chat.answer, 'one two');
}

/** Says something: no stream is cut, no text goes back, and the finish has its reason. */
async function say(chat, text) {
  chat.shown = [];
  await chat.sendMessage({ text });
  assert.deepEqual(chat.errors, [], `the stream was cut: ${text}`);
  assert.equal(chat.status, 'ready');
  assert.equal(chat.finishes.at(-1).finishReason, 'stop');
  grew(chat);
}

const kept = async id => (await fetch(`${process.env.HOST_URL}/api/chat/${id}`)).json();
