// A tool that asks is not allowed: it never runs, and the model hears why.
import { Chat, asked, assert, callsOf, decided, decides, notes, open, sameAsHost } from '../lib.mjs';

export default async function () {
  const chat = new Chat({ id: 'deny', ...decides });
  const call = await asked(chat);
  const { id } = chat.lastMessage;
  await decided(chat, call, false, 'not today');
  assert.equal(chat.messages.length, 2);
  assert.equal(chat.lastMessage.id, id);
  const [denied] = callsOf(chat.lastMessage);
  assert.equal(denied.state, 'output-denied');
  assert.deepEqual(denied.approval, { id: call.approval.id, approved: false, reason: 'not today' });
  assert.match(chat.answer, /not today/, 'the model goes on');
  await sameAsHost(chat);

  // Only the first decision counts: another page, loaded before, has the other opinion.
  const page = await open('deny', decides);
  page.messages = page.messages.map(message => message.id !== id ? message : { ...message, parts: message.parts.map(
    part => part.toolCallId ? call : part).slice(0, message.parts.findIndex(part => part.toolCallId) + 1) });
  await page.addToolApprovalResponse({ id: call.approval.id, approved: true });
  await page.until('the page to be told', c => c.statuses.length > 1 && ['ready', 'error'].includes(c.status));
  assert.equal(await notes(), 0, 'a denied call never runs');
  await sameAsHost(await open('deny'));
}
