// A tool of the demo project is called, and its call and result are parts of the message.
import { Chat, assert, sameAsHost } from '../lib.mjs';

export default async function () {
  const chat = new Chat({ id: 'tool' });
  const states = new Set();
  const seen = chat.until('the end', c => {
    for (const part of c.lastMessage?.parts ?? []) if (part.toolCallId) states.add(part.state);
    return c.statuses.at(-1) === 'ready' && c.messages.length === 2;
  });
  await chat.sendMessage({ text: 'use a tool' });
  await seen;
  const part = chat.lastMessage.parts.find(p => p.type === 'tool-time_now');
  assert.equal(part.state, 'output-available');
  assert.deepEqual(part.input, {});
  assert.ok(part.output.time);
  assert.ok(states.has('input-available'), `states: ${[...states]}`);
  assert.equal(chat.lastMessage.parts.filter(p => p.type === 'step-start').length, 2);
  await sameAsHost(chat);
}
