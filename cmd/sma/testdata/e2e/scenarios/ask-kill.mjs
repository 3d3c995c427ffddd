// The host is killed while a request is open, after its outcome, and while the model
// goes on from it: the request can be decided later, and its tool runs once.
import { Chat, asked, assert, callsOf, control, decided, decides, notes, open, sameAsHost } from '../lib.mjs';

export default async function () {
  const chat = new Chat({ id: 'ask-kill', ...decides });
  const call = await asked(chat);
  await control('/kill');

  const page = await open('ask-kill', decides);
  await page.resumeStream();
  assert.deepEqual(callsOf(page.lastMessage), [call], 'the request survives');
  assert.equal(await notes(), 0);
  await decided(page, call, true);
  assert.equal(page.lastMessage.id, chat.lastMessage.id, 'it goes on in the same message');
  assert.equal(page.messages.length, 2);
  assert.equal(await notes(), 1);
  await sameAsHost(page);

  await control('/kill');
  const after = await open('ask-kill', decides);
  await sameAsHost(after);
  assert.equal(callsOf(after.lastMessage)[0].state, 'output-available');
  await after.sendMessage({ text: 'hello' });
  assert.equal(after.messages.length, 4);
  assert.equal(await notes(), 1, 'the tool ran once');
  await sameAsHost(after);

  const cut = new Chat({ id: 'ask-kill-answer', ...decides });
  const second = await asked(cut);
  await cut.addToolApprovalResponse({ id: second.approval.id, approved: true });
  await cut.until('the tool to have run', c => callsOf(c.lastMessage)[0].state === 'output-available');
  assert.equal(cut.status, 'streaming');
  await control('/kill');
  await (await open('ask-kill-answer')).resumeStream();
  const now = await open('ask-kill-answer');
  assert.equal(now.messages.length, 2);
  assert.equal(now.lastMessage.id, cut.lastMessage.id);
  assert.deepEqual(callsOf(now.lastMessage).map(c => c.state), ['output-available']);
  assert.match(now.answer, /answered/);
  assert.equal(await notes(), 2, 'its tool ran once as well');
  await sameAsHost(now);
}
