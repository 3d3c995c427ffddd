// Messages that are not delivered yet, and those that were parked until somebody decides about them.
import { ago, confirm, every, h, say, text, when } from '../dom.js';
import { get, post } from '../wire.js';
import { t as shared, words } from '../text.js';
import { button, chat, empty, facts, keyed, label, redraw, unsent } from './parts.js';

const t = words({
  title: 'Outbox', none: 'Everything was delivered.',
  about: 'Messages appear here while they are being sent. A message that a platform refuses for good, or that makes its chat fail again and again, is parked here until you retry or drop it.',
  kind: { egress: 'to people', ingress: 'from people' }, state: { writing: 'being written', waiting: 'waiting', parked: 'parked' },
  since: 'since ', tries: (n) => `failed ${n === 1 ? 'once' : `${n} times`}`, parts: (n) => (n === 1 ? '1 part was sent' : `${n} parts were sent`),
  files: (n) => (n === 1 ? '1 file' : `${n} files`), maybe: 'people may have it already', from: 'from ',
  all: (n) => `Retry all ${n} parked`, retried: 'Sent again.', retriedIn: 'Handled again.', dropped: 'Dropped.', late: 'It is not parked any more.',
  sure: (said) => `Drop this message for good? Nobody will receive it.\n\n${said}`, many: (n) => `${n} parked messages were taken up again.`,
}, {
  title: '发件箱', none: '所有消息都已送达。',
  about: '正在发送的消息会显示在这里。被平台永久拒绝、或反复使聊天出错的消息会搁置在这里，直到你选择重试或放弃。',
  kind: { egress: '发出', ingress: '收到' }, state: { writing: '书写中', waiting: '待发送', parked: '已搁置' },
  since: '起始 ', tries: (n) => `失败 ${n} 次`, parts: (n) => `已发出 ${n} 段`,
  files: (n) => `${n} 个文件`, maybe: '对方可能已经收到', from: '来自 ',
  all: (n) => `重试全部 ${n} 条已搁置的消息`, retried: '已重新发送。', retriedIn: '已重新处理。', dropped: '已放弃。', late: '这条消息已不在搁置状态。',
  sure: (said) => `要放弃这条消息吗？它将不会送达任何人，且无法恢复。\n\n${said}`, many: (n) => `已重新处理 ${n} 条搁置的消息。`,
});

async function settle(l, drop, again) {
  if (drop && !await confirm(t.sure(`\u2068${(l.text ?? '').slice(0, 200)}\u2069`), shared.drop)) return;
  const result = await post('outbox', { chatKey: l.chatKey, id: l.id, drop });
  if (result.ids.length === 0) say(t.late, true);
  else say(drop ? t.dropped : l.kind === 'ingress' ? t.retriedIn : t.retried);
  await again();
}

const isParked = (l) => l.state === 'parked';

async function retryAll(again) {
  let n = 0;
  for (const chatKey of new Set((await get('outbox')).filter(isParked).map((l) => l.chatKey))) n += (await post('outbox', { chatKey })).ids.length;
  say(t.many(n));
  await again();
}

function card(l, orders, again) {
  const parked = isParked(l);
  const since = h('span', { title: when(l.since) });
  const el = h('article', { class: 'box' },
    facts(label(parked ? 'bad' : '', t.state[l.state] ?? l.state), chat(l.chatKey, l.name), t.kind[l.kind] ?? l.kind, l.from && [t.from, text(l.from)], since,
      l.tries > 0 && t.tries(l.tries), l.lastError && h('span', { class: 'bad' }, unsent(l.lastError)),
      l.parts > 0 && t.parts(l.parts), l.files > 0 && t.files(l.files), l.maybe && t.maybe),
    l.text ? h('blockquote', null, l.text) : null,
    orders && parked ? h('div', { class: 'bar' }, button(shared.retry, () => settle(l, false, again)), button(shared.drop, () => settle(l, true, again), 'danger')) : null);
  el.fresh = () => since.replaceChildren(t.since, ago(l.since));
  return el;
}

export default {
  id: 'outbox', title: t.title, owner: true,
  // With a key it shows only the messages of that chat, as part of another page.
  async show(root, { params: { key }, signal, me }) {
    const all = h('div', { class: 'bar' });
    root.append(all);
    const draw = keyed(root, key ? h('p') : empty(t.none, t.about), (l) => card(l, me.orders, load), (l) => `${l.chatKey} ${l.id}`);
    const drawAll = redraw((n) => all.replaceChildren(n > 1 ? button(t.all(n), () => retryAll(load)) : ''));
    const load = async () => {
      const lines = await get('outbox', { key }, signal);
      const parked = lines.filter(isParked);
      drawAll(me.orders && !key ? parked.length : 0);
      draw([...parked, ...lines.filter((l) => !isParked(l))]);
    };
    every(5000, signal, load);
  },
};
