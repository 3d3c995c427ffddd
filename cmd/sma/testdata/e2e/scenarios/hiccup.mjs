// The model's answer breaks off after some words and comes in other words: the stream is
// cut at once, because it cannot take words back. Resuming brings the message as it is,
// also when it is complete by then; each reader gets it once.
import { Chat, assert, history, outline, pass, reached, sameAsHost } from '../lib.mjs';

export default async function () {
  const script = 'shared |@tab|!other|void |@late|whole';
  const chat = new Chat({ id: 'hiccup' });
  const tab = new Chat({ id: 'hiccup' });
  const sent = chat.sendMessage({ text: script });
  await reached('tab');
  await tab.resume();
  await pass('tab');
  await sent.catch(() => {});
  assert.equal(chat.status, 'error');
  assert.equal(chat.answer, 'shared void ', 'it is shown until the page resumes');
  await reached('late');
  await pass('late');
  await tab.until('the end', t => t.status !== 'streaming');
  while ((await history(chat.id)).length < 2) await new Promise(resolve => setTimeout(resolve, 20));

  // It ended before the page resumed.
  await chat.resumeStream();
  assert.equal(chat.status, 'ready');
  assert.deepEqual(outline(chat.messages), [`u:${script}`, 'a:shared whole']);
  assert.equal(chat.finishes.at(-1).finishReason, 'stop');

  // So it is for the other tab, which does not know the question.
  await tab.resumeStream();
  assert.deepEqual(outline(tab.messages), ['a:shared whole']);
  await sameAsHost(chat);
}
