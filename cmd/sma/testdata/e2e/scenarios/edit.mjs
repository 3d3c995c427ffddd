// An earlier message is said in other words: it keeps its id, and what followed is gone.
import { Chat, assert, open, outline, sameAsHost } from '../lib.mjs';

export default async function () {
  const chat = new Chat({ id: 'edit' });
  await chat.sendMessage({ text: 'one' });
  await chat.sendMessage({ text: 'tow' });
  await chat.sendMessage({ text: 'three' });
  const messageId = chat.messages[2].id;

  await chat.sendMessage({ text: 'two', messageId });
  assert.deepEqual(outline(chat.messages), ['u:one', 'a:one', 'u:two', 'a:two']);
  assert.equal(chat.messages[2].id, messageId);
  assert.deepEqual(chat.errors, []);
  await sameAsHost(chat);

  // The very first one, from a page that was loaded later.
  const later = await open('edit');
  await later.sendMessage({ text: 'anew', messageId: later.messages[0].id });
  assert.deepEqual(outline(later.messages), ['u:anew', 'a:anew']);
  await later.sendMessage({ text: 'and on' });
  await sameAsHost(later);
}
