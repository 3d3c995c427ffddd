// A tool that asks is allowed: it runs once, and the same message goes on.
import { Chat, asked, assert, callsOf, decided, decides, grew, notes, sameAsHost, textOf } from '../lib.mjs';

export default async function () {
  const chat = new Chat({ id: 'approve', ...decides });
  const call = await asked(chat);
  const { id } = chat.lastMessage;
  const before = chat.answer;
  assert.ok(call.input.text, 'people see the exact input');
  assert.equal(await notes(), 0, 'nothing runs before the decision');
  await sameAsHost(chat);

  await decided(chat, call, true);
  assert.deepEqual(chat.messages.map(message => message.role), ['user', 'assistant']);
  assert.equal(chat.lastMessage.id, id, 'it goes on in the same message');
  const [done, ...others] = callsOf(chat.lastMessage);
  assert.deepEqual(others, []);
  assert.equal(done.toolCallId, call.toolCallId);
  assert.deepEqual(done.input, call.input);
  assert.equal(done.output.written, call.input.text);
  assert.equal(done.approval.approved, true);
  assert.ok(textOf(chat.lastMessage).startsWith(before) && /answered/.test(textOf(chat.lastMessage)), chat.answer);
  assert.equal(await notes(), 1);
  grew(chat);
  await sameAsHost(chat);

  // The next turn is an ordinary one, and the next request is asked anew.
  await chat.sendMessage({ text: 'hello' });
  assert.equal(chat.messages.length, 4);
  await asked(chat);
  assert.equal(await notes(), 1);
  await sameAsHost(chat);
}
