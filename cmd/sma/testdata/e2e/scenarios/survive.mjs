// One stream from the first word to the last: the agent switches its context, and a
// provider finds the request too long, so that the history is summarised and the step is
// asked for again. The page sees neither.
import { Chat, assert, callsOf, control, grew, history, open, outline, sameAsHost, textOf } from '../lib.mjs';

export default async function () {
  for (const [id, script] of [
    ['switch-new', 'before |#chat_context_new {}'],
    ['switch-twice', 'before |#chat_context_new {}'],
  ]) {
    const chat = new Chat({ id });
    if (id === 'switch-twice') await chat.sendMessage({ text: 'an earlier turn' });
    await chat.sendMessage({ text: script });
    assert.deepEqual(chat.errors, [], `${id}: the stream was cut`);
    assert.equal(chat.status, 'ready');
    assert.equal(chat.finishes.at(-1).finishReason, 'stop');
    assert.ok(callsOf(chat.lastMessage).some(call => call.type === 'tool-chat_context_new'));
    grew(chat);
    console.error(JSON.stringify(chat.messages), JSON.stringify(await history(id)));
  }
}
