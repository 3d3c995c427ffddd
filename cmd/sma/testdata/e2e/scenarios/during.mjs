// Messages sent during a run do not disturb it: each POST ends with the message
// that first saw its turn.
import { Chat, assert, history, open, outline, pass, reached, sameAsHost } from '../lib.mjs';

export default async function () {
  const chat = new Chat({ id: 'during' });
  const first = chat.sendMessage({ text: 'first |@mid|answer' });
  await reached('mid');
  await chat.untilText('first ');
  const second = chat.sendMessage({ text: 'second' });
  await waiting('during', 2);
  const third = chat.sendMessage({ text: 'third |@end|answer' });
  await chat.until('both are sent', c => c.messages.length === 4);

  // A page that is loaded now sees what waits, and the answer under way.
  const other = await waiting('during', 3);
  const { end: resumed } = await other.resume();
  await pass('mid');
  await first;
  await resumed;
  assert.equal(textOfAnswer(other, 1), 'first answer');
  await reached('end');
  await pass('end');
  await Promise.all([second, third]);
  assert.deepEqual(chat.errors, []);
  assert.deepEqual(outline(await history('during')), [
    'u:first |@mid|answer', 'a:first answer', 'u:second', 'u:third |@end|answer', 'a:third answer',
  ]);
  await sameAsHost(await open('during'));
  assert.deepEqual(outline(chat.messages).sort(), outline(await history('during')).sort());
}

const textOfAnswer = (chat, nth) => outline(chat.messages).filter(line => line.startsWith('a:'))[nth - 1]?.slice(2);

/** Opens the chat once the host knows that many messages. */
async function waiting(id, count) {
  for (;;) {
    const chat = await open(id);
    if (chat.messages.length === count) return chat;
  }
}
