// A reload while a request is open: the new page shows it, and can decide.
import { Chat, asked, assert, callsOf, decided, decides, notes, open, sameAsHost } from '../lib.mjs';

export default async function () {
  for (const [id, approved] of [['reload-yes', true], ['reload-no', false]]) {
    const first = new Chat({ id, ...decides });
    const call = await asked(first);
    const page = await open(id, decides);
    await page.resumeStream(); // as useChat does with resume
    assert.deepEqual(callsOf(page.lastMessage), [call], 'the request is in the history');
    assert.equal(page.messages.length, 2);
    await decided(page, call, approved);
    assert.equal(page.lastMessage.id, first.lastMessage.id, 'it goes on in the same message');
    assert.equal(page.messages.length, 2);
    await sameAsHost(page);
  }
  assert.equal(await notes(), 1);
}
