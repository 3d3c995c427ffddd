// The network fails in the middle: the page resumes and the text goes on.
import { Chat, assert, control, grew, outline, pass, reached, sameAsHost } from '../lib.mjs';

export default async function () {
  for (const [id, fetch] of [['loss-node', globalThis.fetch], ['loss-browser', asBrowsers]]) {
    const chat = new Chat({ id, fetch });
    const sent = chat.sendMessage({ text: `one |two |@${id}|three |@${id}-2|four` });
    await reached(id);
    await chat.untilText('one two ');
    await control('/cut');
    await sent;
    assert.equal(chat.status, 'error');
    assert.equal(chat.finishes.at(-1).isDisconnect, id === 'loss-browser');

    const { end: resumed } = await chat.resume();
    await pass(id);
    await chat.untilText('one two three ', 'one two ');
    await control('/cut'); // and once more
    await resumed;
    const { end: again } = await chat.resume();
    await pass(`${id}-2`);
    await again;
    assert.equal(chat.answer, 'one two three four');
    assert.equal(chat.status, 'ready');
    grew(chat);
    // The host may notice a cut after the page has resumed, and then offers the message to its reader once more.
    await (await fetch(`${process.env.HOST_URL}/api/chat/${id}/stream`)).text();
    await sameAsHost(chat);
  }
  // A page that never heard of its message being taken sends it again: it is
  // answered once.
  const chat = new Chat({ id: 'loss-early' });
  const sent = chat.sendMessage({ text: '@early|once' });
  await reached('early');
  await control('/cut');
  await sent;
  const anew = new Chat({ id: 'loss-early', messages: chat.messages.slice(0, 1) });
  const repeated = anew.sendMessage(); // what there is, again
  await pass('early');
  await repeated;
  assert.deepEqual(outline(anew.messages), ['u:@early|once', 'a:once']);
  await sameAsHost(anew);
}

/** Node says "terminated" where browsers say "network error"; the SDK listens for the latter. */
async function asBrowsers(url, init) {
  const response = await globalThis.fetch(url, init);
  if (!response.body) return response;
  const reader = response.body.getReader();
  const body = new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch {
        controller.error(new TypeError('network error'));
      }
    },
    cancel: reason => reader.cancel(reason),
  });
  return new Response(body, response);
}
