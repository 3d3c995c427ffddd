// Messages that are not delivered yet, and those that are parked.
import { ago, bar, box, button, cards, chat, confirm, empty, every, facts, fill, get, h, label, p, post, redraw, say, text, texts, unsent, when } from './parts.js';

const t = texts({
  title: ['Outbox', '发件箱'], none: ['Everything was delivered.', '所有消息都已送达。'],
  about: ['Messages are here while they are being sent. One that a platform refuses for good, or that makes its chat fail again and again, is parked here until you send it again or drop it.', '正在发送的消息会显示在这里。被平台永久拒绝、或反复使聊天出错的消息会搁置在这里，直到你重新发送或放弃。'],
  kind: { egress: ['to people', '发出'], ingress: ['from people', '收到'] },
  state: { writing: ['being written', '书写中'], waiting: ['waiting', '待发送'], parked: ['parked', '已搁置'] }, since: ['since ', '起始：'],
  tries: [(n) => `failed ${n === 1 ? 'once' : `${n} times`}`, (n) => `失败 ${n} 次`], parts: [(n) => `parts sent: ${n}`, (n) => `已发出 ${n} 段`],
  files: [(n) => `files: ${n}`, (n) => `${n} 个文件`], maybe: ['people may have it already', '对方可能已经收到'], from: ['from ', '来自 '],
  all: [(n) => `Send all ${n} parked again`, (n) => `重新发送全部 ${n} 条已搁置的消息`], done: [(n) => `${n} taken up again.`, (n) => `已重新处理 ${n} 条。`], dropped: ['Dropped.', '已放弃。'],
  late: ['It is not parked any more.', '这条消息已不在搁置状态。'], sure: ['Drop this message for good? Nobody will receive it.', '要放弃这条消息吗？它不会再送达任何人，且无法恢复。'],
});

const isParked = (l) => l.state === 'parked';

async function settle(l, drop, again) {
  if (drop && !await confirm(`${t.sure}\n\n\u2068${(l.text ?? '').slice(0, 200)}\u2069`, t.drop)) return;
  const n = (await post('outbox', { chatKey: l.chatKey, id: l.id, drop })).ids.length;
  say(n === 0 ? t.late : drop ? t.dropped : t.done(n), n === 0);
  await again();
}

async function retryAll(again) {
  let n = 0;
  for (const chatKey of new Set((await get('outbox')).filter(isParked).map((l) => l.chatKey))) n += (await post('outbox', { chatKey })).ids.length;
  say(t.done(n));
  await again();
}

function card(l, orders, again) {
  const since = h('span', { title: when(l.since) });
  const el = box(
    facts(label(isParked(l) ? 'bad' : '', t.state[l.state] ?? l.state), chat(l.chatKey, l.name), t.kind[l.kind] ?? l.kind, l.from && [t.from, text(l.from)], since,
      l.tries > 0 && t.tries(l.tries), l.lastError && h('span', { class: 'bad', title: l.lastError }, unsent(l.lastError)), l.parts > 0 && t.parts(l.parts), l.files > 0 && t.files(l.files), l.maybe && t.maybe),
    l.text ? h('blockquote', null, l.text) : null,
    orders && isParked(l) ? bar(button(t.retry, () => settle(l, false, again)), button(t.drop, () => settle(l, true, again), 'danger')) : null);
  el.fresh = () => fill(since, t.since, ago(l.since));
  return el;
}

export default {
  title: t.title,
  // With a key it is part of another page, for that chat.
  async show(root, { params: { key }, signal, me }) {
    const all = bar();
    root.append(all);
    const drawAll = redraw((n) => fill(all, n > 1 && me.orders && !key ? button(t.all(n), () => retryAll(load)) : ''));
    const draw = cards(root, key ? p() : empty(t.none, t.about), (l) => card(l, me.orders, load), (l) => `${l.chatKey} ${l.id}`);
    const load = async () => {
      const lines = await get('outbox', { key }, signal);
      drawAll(lines.filter(isParked).length);
      draw(lines.sort((a, b) => isParked(b) - isParked(a)));
    };
    every(5000, signal, load);
  },
};
