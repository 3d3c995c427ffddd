// The model's answer breaks off in the middle: the host asks again, and nothing
// of the broken answer is kept. A stream cannot take text back, so it is cut, and
// the page resumes.
import { Chat, assert, outline, pass, reached, sameAsHost } from '../lib.mjs';

export default async function () {
  const chat = new Chat({ id: 'model-cut' });
  const sent = chat.sendMessage({ text: 'half |!cut|@again|whole' });
  await reached('again');
  await sent;
  assert.equal(chat.status, 'error');
  const { end } = await chat.resume();
  await pass('again');
  await end;
  assert.equal(chat.status, 'ready');
  assert.deepEqual(outline(chat.messages), ['u:half |!cut|@again|whole', 'a:half whole']);
  await sameAsHost(chat);
}
