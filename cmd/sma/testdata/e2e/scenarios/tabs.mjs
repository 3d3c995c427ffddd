// Two tabs of one chat show the same message as it comes.
import { Chat, assert, grew, open, pass, reached, sameAsHost } from '../lib.mjs';

export default async function () {
  const one = new Chat({ id: 'tabs' });
  const sent = one.sendMessage({ text: 'both |@mid|of |@late|them' });
  await reached('mid');
  const two = await open('tabs');
  const { end: resumed } = await two.resume();
  await two.untilText('both ');
  await pass('mid');
  await Promise.all([one.untilText('both of ', 'both '), two.untilText('both of ', 'both ')]);
  await pass('late');
  await Promise.all([sent, resumed]);
  for (const tab of [one, two]) {
    assert.equal(tab.answer, 'both of them');
    grew(tab);
    await sameAsHost(tab);
  }
  // What one tab says later, the other shows once it is loaded again.
  await one.sendMessage({ text: 'more' });
  await sameAsHost(await open('tabs'));
}
