// The last answer and an earlier one are asked for again; what followed is gone.
import { Chat, assert, outline, pass, reached, sameAsHost } from '../lib.mjs';

export default async function () {
  const chat = new Chat({ id: 'regenerate' });
  await chat.sendMessage({ text: 'one' });
  await chat.sendMessage({ text: 'two' });
  await chat.sendMessage({ text: 'three' });
  const [, first, , second, , third] = chat.messages.map(message => message.id);

  await chat.regenerate();
  assert.deepEqual(outline(chat.messages), ['u:one', 'a:one', 'u:two', 'a:two', 'u:three', 'a:three']);
  assert.notEqual(chat.lastMessage.id, third);
  await sameAsHost(chat);

  await chat.regenerate({ messageId: second });
  assert.deepEqual(outline(chat.messages), ['u:one', 'a:one', 'u:two', 'a:two']);
  assert.notEqual(chat.lastMessage.id, second);
  assert.equal(chat.messages[1].id, first);
  assert.deepEqual(chat.errors, []);
  await sameAsHost(chat);

  // During a run it is refused, in words, and the run goes on.
  const sent = chat.sendMessage({ text: 'busy |@mid|still' });
  await reached('mid');
  const other = new Chat({ id: 'regenerate', messages: chat.messages.slice(0, 4) });
  await other.regenerate();
  assert.equal(other.status, 'error');
  assert.match(other.errors[0].message, /busy/);
  await pass('mid');
  await sent;
  assert.equal(chat.answer, 'busy still');
  await sameAsHost(chat);
}
