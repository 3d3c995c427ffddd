// What goes wrong is told: a model that refuses, and a tool that does not exist.
import { Chat, assert, outline, sameAsHost } from '../lib.mjs';

export default async function () {
  const chat = new Chat({ id: 'failure' });
  await chat.sendMessage({ text: '!refuse' });
  assert.equal(chat.status, 'error');
  assert.match(chat.errors[0].message, /^My model refused/);
  await sameAsHost(chat);

  // It is no use to send the same again in the hope of another answer: that asks
  // for the answer there is. Regenerating asks the model.
  await chat.regenerate();
  assert.equal(chat.errors.length, 2);

  await chat.sendMessage({ text: '#nope {"a":1}' });
  assert.equal(chat.status, 'ready');
  const part = chat.lastMessage.parts.find(p => p.type === 'tool-nope');
  assert.equal(part.state, 'output-error');
  assert.match(part.errorText, /unavailable tool 'nope'/); // the real text, not "An error occurred."
  assert.match(outline(chat.messages).at(-1), /unavailable tool/); // which the model read too
  await sameAsHost(chat);
}
