// A message that comes in while a tool works is taken in at the step boundary:
// the first POST ends with the message so far, the second with the one that goes on.
import { Chat, assert, history, outline, pass, reached, sameAsHost } from '../lib.mjs';

export default async function () {
  const chat = new Chat({ id: 'merge' });
  const first = chat.sendMessage({ text: 'looking |@mid|#chat_send {"text":"a note"}' });
  await reached('mid');
  await chat.untilText('looking ');
  const second = chat.sendMessage({ text: 'merged' });
  for (;;) if ((await history('merge')).length === 2) break;
  await pass('mid');
  await Promise.all([first, second]);
  assert.deepEqual(chat.errors, []);
  const kept = await history('merge');
  assert.deepEqual(outline(kept), [
    'u:looking |@mid|#chat_send {"text":"a note"}', 'a:looking ', 'u:merged', 'a:merged',
  ]);
  const part = kept[1].parts.find(p => p.type === 'tool-chat_send');
  assert.equal(part.state, 'output-available');
  assert.equal(kept[1].metadata.runId, kept[3].metadata.runId, 'one run');
  await sameAsHost(chat);
}
