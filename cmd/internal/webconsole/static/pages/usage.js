// What the models were used for, by day, model and chat, and how much is left of the limits.
import { asked, bar, chat, dollars, empty, every, get, h, num, redraw, table, text, texts, unseen } from './parts.js';

const t = texts({
  title: ['Usage', '用量'], none: ['Nothing was used.', '没有用量。'],
  about: ['Each call of a model is counted here with its tokens and, if it is known, its price: answers, summaries and memory. Limits are set in budget of ship.json.', '每次模型调用的 token 数和费用（价格已知时）都计入这里，包括回答、摘要和记忆。上限在 ship.json 的 budget 中设置。'],
  days: ['Days', '天数'], last: [(n) => `last ${n} days`, (n) => `最近 ${n} 天`], day: ['Day', '日期'], total: ['Total', '合计'], more: [(n) => `${n} more`, (n) => `其余 ${n} 项`],
  calls: ['Calls', '调用'], input: ['Input', '输入'], cached: ['Cached', '缓存'], output: ['Output', '输出'], share: ['Share', '占比'], limit: ['Limit', '上限'],
  used: ['Used today', '今日已用'], most: ['by the chat that used most', '用量最高的聊天'], noPrice: ['Prices are unknown, so the bars show tokens.', '价格未知，条形按 token 计算。'],
  limitOf: {
    runTokens: ['Tokens of one answer', '单次回答的 token 数'], chatTokensPerDay: ['Tokens of a chat per day', '每个聊天每天的 token 数'],
    hostTokensPerDay: ['Tokens of all chats per day', '所有聊天每天的 token 数'], usdPerRun: ['Dollars of one answer', '单次回答的美元'],
    usdPerChatPerDay: ['Dollars of a chat per day', '每个聊天每天的美元'], usdPerHostPerDay: ['Dollars of all chats per day', '所有聊天每天的美元'],
  },
});

const tokens = (r) => r.inputTokens + r.outputTokens;
const usd = (r) => r.usd;

// sums adds up the rows that have the same member, by that member.
function sums(rows, member) {
  const out = new Map();
  for (const r of rows) {
    const key = r[member] ?? '';
    const sum = out.get(key) ?? { key, calls: 0, inputTokens: 0, cachedTokens: 0, outputTokens: 0, usd: 0 };
    for (const m in sum) if (m !== 'key') sum[m] += r[m] ?? 0;
    out.set(key, sum);
  }
  return [...out.values()];
}

// meter draws a share. It says nothing to screen readers, who have the numbers beside it.
function meter(share, kind = '') {
  const inner = h('span');
  inner.style.width = `${Math.min(100, share * 100)}%`;
  return h('span', { class: `meter ${kind}`, 'aria-hidden': 'true' }, inner);
}

const shownRows = 50;

// part is a table of sums. The last row adds up those that are not shown.
function part(head, list, cell, weight) {
  const top = Math.max(...list.map(weight)) || 1;
  const rest = sums(list.slice(shownRows), '');
  return table([
    { head, cell: (r) => (rest.includes(r) ? t.more(list.length - shownRows) : cell(r.key)) },
    { head: t.cost, num: true, cell: (r) => (r.usd > 0 ? dollars(r.usd) : '–') },
    { head: t.share, cell: (r) => (rest.includes(r) ? '' : meter(weight(r) / top)) },
    { head: t.calls, num: true, cell: (r) => num(r.calls) },
    { head: t.input, num: true, cell: (r) => num(r.inputTokens) },
    { head: t.cached, num: true, cell: (r) => num(r.cachedTokens) },
    { head: t.output, num: true, cell: (r) => num(r.outputTokens) },
  ], [...list.slice(0, shownRows), ...rest]);
}

// limits says how much of each limit that is set was used today.
function limits(set, today) {
  const chats = sums(today, 'chatKey');
  const all = sums(today, '');
  const n = (of, weight) => Math.max(0, ...of.map(weight));
  const used = { hostTokensPerDay: n(all, tokens), usdPerHostPerDay: n(all, usd), ...(!chats[0]?.key || { chatTokensPerDay: n(chats, tokens), usdPerChatPerDay: n(chats, usd) }) };
  const shown = (name, value) => (value === undefined ? '' : name.startsWith('usd') ? dollars(value) : num(value));
  const names = Object.keys(t.limitOf).filter((name) => set[name] > 0);
  return names.length ? table([
    { head: unseen(t.name), cell: (name) => t.limitOf[name] },
    { head: t.limit, num: true, cell: (name) => shown(name, set[name]) },
    { head: t.used, num: true, cell: (name) => shown(name, used[name]) },
    { head: t.share, cell: (name) => {
      if (!(name in used)) return '';
      const share = used[name] / set[name];
      return [meter(share, share >= 1 ? 'bad' : share >= 0.8 ? 'warn' : ''), ` ${Math.round(share * 100)}%`, /chat/i.test(name) ? h('div', { class: 'small dim' }, t.most) : null];
    } },
  ], names) : '';
}

const daysAgo = (n) => {
  const d = new Date();
  return new Date(d - n * 864e5 - d.getTimezoneOffset() * 6e4).toISOString().slice(0, 10);
};

export default {
  id: 'usage', title: t.title, owner: false,
  async show(root, { signal, me }) {
    const days = h('select', { 'aria-label': t.days }, [7, 30, 90].map((n) => h('option', { value: n }, t.last(n))));
    const place = h('div');
    root.append(bar(days), place);
    const whole = me.role !== 'viewer';
    const draw = redraw(([doc, chats]) => {
      const rows = doc.usage ?? doc;
      const weight = rows.some(usd) ? usd : tokens;
      const names = new Map(chats.map((c) => [c.chatKey, c.name]));
      const by = (member, head, cell) => (rows.some((r) => r[member]) ? part(head, sums(rows, member).sort((a, b) => weight(b) - weight(a)), cell, weight) : '');
      const today = doc.today ?? daysAgo(0);
      place.replaceChildren(limits(doc.limits ?? {}, rows.filter((r) => r.day === today)), ...(rows.length ? [
        part(t.total, sums(rows, ''), () => t.last(days.value), weight), weight === usd ? '' : h('p', { class: 'hint' }, t.noPrice),
        part(t.day, sums(rows, 'day').sort((a, b) => (a.key < b.key ? 1 : -1)), (day) => h('span', { class: 'num' }, day), weight),
        by('model', t.model, text), by('chatKey', t.chat, (key) => (whole ? chat(key, names.get(key)) : text(key))),
      ] : [empty(t.none, t.about)]));
    });
    const load = async () => draw(await Promise.all([asked('usage', { of: daysAgo(days.value - 1) }, signal), whole ? get('chats', {}, signal) : []]));
    days.addEventListener('change', load);
    every(15_000, signal, load);
  },
};
