// setMessages with other words and regenerate() is an edit: the host answers what the
// page shows, and what followed is gone.
import { Chat, assert, outline, sameAsHost } from '../lib.mjs';

const inWords = (message, text) => ({ ...message, parts: [{ type: 'text', text }] });

export default async function () {
  const chat = new Chat({ id: 'words' });
  for (const text of ['one', 'two', 'three']) await chat.sendMessage({ text });

  chat.messages = chat.messages.map((message, i) => (i === 4 ? inWords(message, 'drei') : message));
  await chat.regenerate();
  assert.deepEqual(outline(chat.messages), ['u:one', 'a:one', 'u:two', 'a:two', 'u:drei', 'a:drei']);
  await sameAsHost(chat);

  chat.messages = chat.messages.map((message, i) => (i === 2 ? inWords(message, 'zwei') : message));
  await chat.regenerate({ messageId: chat.messages[3].id });
  assert.deepEqual(outline(chat.messages), ['u:one', 'a:one', 'u:zwei', 'a:zwei']);
  await sameAsHost(chat);

  // A page that makes a new message of it.
  chat.messages = [...chat.messages.slice(0, 2), { ...inWords(chat.messages[2], 'dos'), id: 'another' }];
  await chat.regenerate();
  assert.deepEqual(outline(chat.messages), ['u:one', 'a:one', 'u:dos', 'a:dos']);
  await sameAsHost(chat);

  // The same words are asked again.
  await chat.regenerate();
  assert.deepEqual(outline(chat.messages), ['u:one', 'a:one', 'u:dos', 'a:dos']);
  assert.deepEqual(chat.errors, []);
  await sameAsHost(chat);
}
