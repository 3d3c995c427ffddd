// Stop ends the run: what was said stays, and the chat goes on.
import { Chat, ask, assert, open, outline, reached, sameAsHost } from '../lib.mjs';

export default async function () {
  const chat = new Chat({ id: 'stop' });
  const sent = chat.sendMessage({ text: 'as far |@never|as this' });
  await reached('never');
  await chat.untilText('as far ');
  assert.deepEqual(JSON.parse(await ask('POST', '/api/chat/stop/stop')), { stopped: true });
  await sent;
  assert.equal(chat.status, 'ready');
  assert.equal(chat.answer, 'as far ');
  assert.deepEqual(chat.errors, []);
  await sameAsHost(chat);

  // Before the first word.
  const early = chat.sendMessage({ text: '@before|nothing' });
  await reached('before');
  await ask('POST', '/api/chat/stop/stop');
  await early;
  assert.equal(chat.status, 'ready');
  assert.deepEqual(JSON.parse(await ask('POST', '/api/chat/stop/stop')), { stopped: false });

  const reloaded = await open('stop');
  await reloaded.sendMessage({ text: 'go on' });
  assert.equal(reloaded.answer, 'go on');
  assert.deepEqual(outline(reloaded.messages).slice(0, 3), ['u:as far |@never|as this', 'a:as far ', 'u:@before|nothing']);
  await sameAsHost(reloaded);
}
