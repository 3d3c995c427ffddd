// Decided after another turn: the old message stays as people left it, and the
// outcome is a new message with a copy of the call.
import { Chat, asked, assert, callsOf, decides, notes, open, sameAsHost } from '../lib.mjs';

const decisions = [
  ['late-yes', true, 'output-available'],
  ['late-no', false, 'output-denied'],
];

export default async function () {
  for (const [id, approved, state] of decisions) {
    const chat = new Chat({ id, ...decides });
    const call = await asked(chat);
    await chat.sendMessage({ text: 'hello' });
    const [, old, , answer] = chat.messages;

    // The automatic rule looks at the last message only, so the page sends it.
    await chat.addToolApprovalResponse({ id: call.approval.id, approved });
    assert.equal(chat.status, 'ready');
    await chat.sendMessage();
    assert.deepEqual(chat.errors, []);
    assert.deepEqual(chat.messages[3], answer, 'the newer message is not touched');
    await late(await outcome(chat), { call, old, state });
  }
  assert.equal(await notes(), 1);

  // A page that does not know of the other turn sends its decision by itself.
  const one = new Chat({ id: 'late-tabs', ...decides });
  const call = await asked(one);
  const two = await open('late-tabs', decides);
  await two.sendMessage({ text: 'hello' });
  await one.addToolApprovalResponse({ id: call.approval.id, approved: true });
  await one.until('the page to be told', c => c.status === 'error');
  assert.match(one.errors[0].message, /decided already/, 'asked to load the chat again, not to send for ever');
  await late(await outcome(two), { call, old: two.messages[1], state: 'output-available' });
  assert.equal(await notes(), 2, 'the tool runs once');
}

/** The chat as a page has it once the new message is complete. */
async function outcome(chat) {
  await chat.resumeStream(); // what is under way, if it is not complete yet
  for (;;) {
    const page = await open(chat.id);
    if (page.messages.length > 4) return page;
    await page.resumeStream();
  }
}

async function late(page, { call, old, state }) {
  assert.equal(page.messages.map(message => message.role[0]).join(''), 'uauaa');
  const [was] = callsOf(page.messages[1]);
  assert.equal(page.messages[1].id, old.id);
  assert.equal(was.toolCallId, call.toolCallId);
  assert.equal(was.state, 'approval-responded', 'the old message shows the decision');
  assert.equal(was.output, undefined);
  const [copy, ...others] = callsOf(page.lastMessage);
  assert.deepEqual(others, []);
  assert.notEqual(copy.toolCallId, call.toolCallId);
  assert.deepEqual(copy.input, call.input);
  assert.equal(copy.state, state);
  assert.ok(page.answer, 'the model goes on');
  await sameAsHost(page);
}
