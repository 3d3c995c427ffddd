// What the models were used for, by day, model and chat, and how much is left of the limits.
import { dollars, every, h, num, table, text } from '../dom.js';
import { asked, get } from '../wire.js';
import { words } from '../text.js';
import { chat, empty, redraw } from './parts.js';

const t = words({
  title: 'Usage', none: 'Nothing was used.', about: 'Each call of a model is counted here with its tokens and its price, if the price is known: answers, summaries and memory. Limits are set in budget of ship.json.',
  days: 'Days', last: (n) => `last ${n} days`, day: 'By day', model: 'By model', chat: 'By chat', person: 'By person', limits: 'Limits', total: 'Total', more: (n) => `${n} more`,
  calls: 'Calls', input: 'Input', cached: 'Cached', output: 'Output', usd: 'USD', share: 'Share', limit: 'Limit', used: 'Used today', run: 'per answer',
  limitOf: {
    runTokens: 'Tokens of one answer', chatTokensPerDay: 'Tokens of a chat per day', hostTokensPerDay: 'Tokens of all chats per day',
    usdPerRun: 'Dollars of one answer', usdPerChatPerDay: 'Dollars of a chat per day', usdPerHostPerDay: 'Dollars of all chats per day',
  },
  most: 'in the chat that used most', noPrice: 'Prices are unknown, so shares are of tokens.',
}, {
  title: '用量', none: '没有用量。', about: '每次模型调用的 token 数和费用（价格已知时）都计入这里，包括回答、摘要和记忆。上限在 ship.json 的 budget 中设置。',
  days: '天数', last: (n) => `最近 ${n} 天`, day: '按日期', model: '按模型', chat: '按聊天', person: '按用户', limits: '上限', total: '合计', more: (n) => `其余 ${n} 项`,
  calls: '调用', input: '输入', cached: '缓存', output: '输出', usd: '美元', share: '占比', limit: '上限', used: '今日已用', run: '单次回答',
  limitOf: {
    runTokens: '单次回答的 token 数', chatTokensPerDay: '每个聊天每天的 token 数', hostTokensPerDay: '所有聊天每天的 token 数',
    usdPerRun: '单次回答的美元', usdPerChatPerDay: '每个聊天每天的美元', usdPerHostPerDay: '所有聊天每天的美元',
  },
  most: '用量最高的聊天', noPrice: '价格未知，占比按 token 计算。',
});

const tokens = (r) => r.inputTokens + r.outputTokens;
const members = ['calls', 'inputTokens', 'cachedTokens', 'outputTokens', 'usd'];

// sums adds up the rows that have the same value, by that value.
function sums(rows, of) {
  const out = new Map();
  for (const r of rows) {
    const key = of(r) ?? '';
    const sum = out.get(key) ?? { key, calls: 0, inputTokens: 0, cachedTokens: 0, outputTokens: 0, usd: 0 };
    for (const m of members) sum[m] += r[m] ?? 0;
    out.set(key, sum);
  }
  return [...out.values()];
}

// bar draws a share. It says nothing to screen readers, who have the number beside it.
function bar(share, kind) {
  const inner = h('span');
  inner.style.width = `${Math.min(100, Math.max(0, share * 100))}%`;
  return h('span', { class: `meter ${kind ?? ''}`, 'aria-hidden': 'true' }, inner);
}

const most = 50;

// part is a table of sums with bars.
function part(head, list, cell, weight) {
  const top = Math.max(...list.map(weight), Number.MIN_VALUE);
  const rest = list.slice(most);
  const shown = rest.length ? [...list.slice(0, most), { ...sums(rest, () => '')[0], rest: t.more(rest.length) }] : list;
  return [h('h2', null, head), table([
    { head: '', cell: (r) => r.rest ?? cell(r) },
    { head: t.share, cell: (r) => bar(r.rest ? 0 : weight(r) / top) },
    { head: t.calls, num: true, cell: (r) => num(r.calls) },
    { head: t.input, num: true, cell: (r) => num(r.inputTokens) },
    { head: t.cached, num: true, cell: (r) => num(r.cachedTokens) },
    { head: t.output, num: true, cell: (r) => num(r.outputTokens) },
    { head: t.usd, num: true, cell: (r) => (r.usd > 0 ? dollars(r.usd) : '–') },
  ], shown)];
}

// limits says how much of each limit was used today.
function limits(all, rows) {
  const set = Object.entries(all ?? {}).filter(([name, most]) => most > 0 && t.limitOf[name]);
  if (!set.length) return [];
  const host = sums(rows, () => '')[0];
  const chats = sums(rows, (r) => r.chatKey);
  return [h('h2', null, t.limits), table([
    { head: '', cell: ([name]) => t.limitOf[name] },
    { head: t.limit, num: true, cell: ([name, most]) => (name.startsWith('usd') ? dollars(most) : num(most)) },
    { head: t.used, num: true, cell: ([name]) => usedOf(name, host, chats)?.shown ?? '' },
    { head: '', cell: ([name, most]) => {
      const used = usedOf(name, host, chats);
      if (!used) return '';
      const share = used.n / most;
      return [bar(share, share >= 1 ? 'bad' : share >= 0.8 ? 'warn' : ''), ` ${Math.round(share * 100)} % `, used.of ? h('span', { class: 'dim' }, t.most) : null];
    } },
  ], set)];
}

function usedOf(name, host, chats) {
  if (/run/i.test(name)) return null;
  const weight = name.startsWith('usd') ? (r) => r.usd : tokens;
  const n = /chat/i.test(name) ? Math.max(0, ...chats.map(weight)) : host ? weight(host) : 0;
  return { n, shown: name.startsWith('usd') ? dollars(n) : num(n), of: /chat/i.test(name) };
}

const isoDay = (date) => `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, '0')}-${String(date.getDate()).padStart(2, '0')}`;

const daysAgo = (n) => {
  const d = new Date();
  d.setDate(d.getDate() - n);
  return isoDay(d);
};

export default {
  id: 'usage', title: t.title, owner: false,
  async show(root, { signal, me }) {
    const days = h('select', { 'aria-label': t.days }, [7, 30, 90].map((n) => h('option', { value: n }, t.last(n))));
    const place = h('div');
    root.append(h('div', { class: 'bar' }, days), place);
    const draw = redraw(({ rows, all, today, names }) => {
      const name = new Map(names.map((c) => [c.chatKey, c.name]));
      const costs = rows.some((r) => r.usd > 0);
      const weight = costs ? (r) => r.usd : tokens;
      const byWeight = (list) => list.sort((a, b) => weight(b) - weight(a));
      const total = sums(rows, () => '');
      place.replaceChildren(...limits(all, rows.filter((r) => r.day === today)), ...(rows.length ? [
        ...part(t.day, sums(rows, (r) => r.day).sort((a, b) => (a.key < b.key ? 1 : -1)), (r) => r.key, weight),
        ...part(t.model, byWeight(sums(rows, (r) => r.model)), (r) => text(r.key), weight),
        ...(rows.some((r) => r.person) ? part(t.person, byWeight(sums(rows, (r) => r.person)), (r) => text(r.key), weight) : []),
        ...(rows.some((r) => r.chatKey) ? part(t.chat, byWeight(sums(rows, (r) => r.chatKey)), (r) => (me.role === 'viewer' ? text(r.key) : chat(r.key, name.get(r.key))), weight) : []),
        ...part(t.total, total, () => '', weight), costs ? '' : h('p', { class: 'hint' }, t.noPrice),
      ] : [empty(t.none, t.about)]));
    });
    const load = async () => {
      const [doc, names] = await Promise.all([asked('usage', { of: daysAgo(days.value - 1) }, signal), me.role === 'viewer' ? [] : get('chats', {}, signal)]);
      draw({ rows: doc.usage ?? doc ?? [], all: doc.limits, today: doc.today ?? daysAgo(0), names });
    };
    days.addEventListener('change', load);
    every(15_000, signal, load);
  },
};
