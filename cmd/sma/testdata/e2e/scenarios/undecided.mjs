// An open request blocks nothing: people go on, and the model knows that it waits.
import { Chat, asked, assert, callsOf, decides, notes, sameAsHost } from '../lib.mjs';

export default async function () {
  const chat = new Chat({ id: 'undecided', ...decides });
  const call = await asked(chat);
  for (const text of ['hello', 'use a tool']) {
    await chat.sendMessage({ text });
    assert.equal(chat.status, 'ready');
    assert.ok(chat.answer, 'it is answered');
    await sameAsHost(chat);
  }
  assert.deepEqual(chat.messages.map(message => message.role[0]).join(''), 'uauaua');
  assert.deepEqual(JSON.parse(JSON.stringify(callsOf(chat.messages[1]))), [call], 'the request stays as it was');
  assert.equal(callsOf(chat.lastMessage)[0].state, 'output-available');
  assert.deepEqual(chat.errors, []);
  assert.equal(await notes(), 0);
}
