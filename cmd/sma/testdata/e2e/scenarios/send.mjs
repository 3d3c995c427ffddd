// A message is answered piece by piece, and what the page shows is what is kept.
import { Chat, assert, grew, outline, pass, reached, sameAsHost } from '../lib.mjs';

export default async function () {
  const chat = new Chat({ id: 'send' });
  const sent = chat.sendMessage({ text: 'Hel|lo |@mid|wor|ld <&>\u2028' });
  await reached('mid');
  await chat.untilText('Hello ');
  assert.equal(chat.status, 'streaming');
  await pass('mid');
  await sent;
  assert.deepEqual(outline(chat.messages).slice(1), ['a:Hello world <&>\u2028']);
  assert.deepEqual(chat.statuses, ['ready', 'submitted', 'streaming', 'ready']);
  assert.ok(chat.shown.length > 1, `pieces: ${chat.shown}`);
  grew(chat);
  await sameAsHost(chat);

  await chat.sendMessage({ parts: [{ type: 'text', text: 'again' }, { type: 'file', mediaType: 'text/plain', url: 'data:text/plain;base64,aGk=' }] });
  assert.equal(chat.answer, 'again\nhi'); // the model got the file too
  await sameAsHost(chat);
}
