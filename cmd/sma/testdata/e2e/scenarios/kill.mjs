// The host is killed in the middle of a message and started again: the page
// resumes and shows the whole answer, once.
import { Chat, assert, control, open, outline, pass, reached, sameAsHost } from '../lib.mjs';

export default async function () {
  const chat = new Chat({ id: 'kill' });
  await chat.sendMessage({ text: 'before' });
  const sent = chat.sendMessage({ text: 'one |two |@mid|three' });
  await reached('mid');
  await chat.untilText('one two ');
  await control('/kill');
  await sent;
  assert.equal(chat.status, 'error');

  const { end: resumed } = await chat.resume();
  await pass('mid');
  await resumed;
  assert.deepEqual(outline(chat.messages), ['u:before', 'a:before', 'u:one |two |@mid|three', 'a:one two three']);
  assert.equal(chat.status, 'ready');
  await sameAsHost(chat);

  // A turn that waits survives as well.
  const first = chat.sendMessage({ text: 'first |@hold|answer' });
  await reached('hold');
  await chat.untilText('first ');
  const second = chat.sendMessage({ text: 'second' });
  while ((await open('kill')).messages.length < 6);
  await control('/kill');
  await Promise.all([first, second]);
  const later = await open('kill');
  const { end: rest } = await later.resume();
  await pass('hold');
  await rest;
  await later.resumeStream();
  const now = await open('kill');
  await now.resumeStream();
  const lines = outline(now.messages);
  assert.deepEqual(lines.slice(4), ['u:first |@hold|answer', 'a:first answer', 'u:second', 'a:second']);
  await sameAsHost(now);
}
