// A reload in the middle of a message: it goes on without loss or doubling.
import { Chat, ask, assert, grew, open, pass, reached, sameAsHost } from '../lib.mjs';

export default async function () {
  await ask('GET', '/api/chat/resume/stream', 204);
  const first = new Chat({ id: 'resume' });
  const sent = first.sendMessage({ text: 'one |two |@mid|three |@late|four' });
  await reached('mid');
  await first.untilText('one two ');
  await first.stop(); // the page goes away; the run does not
  await sent;

  const second = await open('resume');
  assert.equal(second.messages.length, 1, 'the message under way comes by resuming');
  const { end: resumed } = await second.resume();
  await second.untilText('one two ');
  await pass('mid');
  await second.untilText('one two three ', 'one two ');

  // Resuming again on the same page must not double what is there.
  await second.stop();
  await resumed;
  const { end: again } = await second.resume();
  await reached('late');
  await second.untilText('one two three ', 'one two ');
  await pass('late');
  await again;
  assert.equal(second.answer, 'one two three four');
  assert.deepEqual(second.errors, []);
  grew(second);
  await sameAsHost(second);

  // Nothing runs any more: resuming changes nothing.
  const before = second.messages;
  await second.resumeStream();
  assert.equal(second.status, 'ready');
  assert.deepEqual(second.messages, before);
}
