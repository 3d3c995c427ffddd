// What the models were used for, by day, model and chat, and how much is left of the limits.
import { asked, bar, chat, div, dollars, empty, every, fill, get, h, num, p, redraw, select, span, table, text, texts, unseen } from './parts.js';

const t = texts({
  title: ['Usage', '用量'], none: ['Nothing was used.', '没有用量。'],
  about: ['Each call of a model counts, with its tokens and, if known, its price. Limits are set in budget of ship.json.', '每次模型调用的 token 数和费用（价格已知时）都计入这里。上限在 ship.json 的 budget 中设置。'],
  days: ['Days', '天数'], last: [(n) => `last ${n} days`, (n) => `最近 ${n} 天`], day: ['Day', '日期'], total: ['Total', '合计'], more: [(n) => `${n} more`, (n) => `其余 ${n} 项`],
  calls: ['Calls', '调用'], inputTokens: ['Input', '输入'], cachedTokens: ['Cached', '缓存'], outputTokens: ['Output', '输出'], share: ['Share', '占比'], limit: ['Limit', '上限'],
  used: ['Used today', '今日已用'], most: ['by the one that used most', '按用量最高者计'], person: ['Person', '用户'], noPrice: ['Prices are unknown, so the bars show tokens.', '价格未知，条形按 token 计算。'],
  limitFor: {
    run: ['of one answer', '单次回答'], chat: ['of a chat', '每个聊天'], person: ['of a person', '每个用户'], host: ['of all chats', '所有聊天'], Hour: ['per hour', '每小时'], Day: ['per day', '每天'], Month: ['per month', '每月'],
  },
});

export const tokens = (r) => r.inputTokens + r.outputTokens;
const usd = (r) => r.usd;

// sums adds up the rows that have the same member, by that member.
export function sums(rows, member) {
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
  const inner = span();
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
    ...['calls', 'inputTokens', 'cachedTokens', 'outputTokens'].map((m) => ({ head: t[m], num: true, cell: (r) => num(r[m]) })),
  ], [...list.slice(0, shownRows), ...rest]);
}

// limits says how much of each limit that is set was used, for the limits of a day. A name is such as usdPerChatPerDay.
function limits(set, today) {
  const rows = Object.entries(set).filter(([, value]) => value > 0).map(([name, value]) => {
    const [, who = '', per = ''] = name.match(/^(?:usdPer)?(chat|host|person|run)(?:Tokens)?(?:Per(Hour|Day|Month))?$/i) ?? [];
    const [of, weight] = [who.toLowerCase(), name.startsWith('usd') ? usd : tokens];
    const member = { chat: 'chatKey', person: 'person' }[of] ?? '';
    const all = sums(today, member).filter((s) => s.key || !member);
    return { of, per, weight, value, used: per === 'Day' && (all.length > 0 || of === 'host') && Math.max(0, ...all.map(weight)) };
  }).filter((l) => l.of);
  const shown = ({ weight }, n) => (n === false ? '' : weight === usd ? dollars(n) : num(n));
  return rows.length ? table([
    { head: unseen(t.name), cell: (l) => [l.weight === usd ? t.cost : t.tokens, t.limitFor[l.of], t.limitFor[l.per]].filter(Boolean).join(' ') },
    { head: t.limit, num: true, cell: (l) => shown(l, l.value) },
    { head: t.used, num: true, cell: (l) => shown(l, l.used) },
    { head: t.share, cell: (l) => {
      if (l.used === false) return '';
      const share = l.used / l.value;
      return [meter(share, share >= 1 ? 'bad' : share >= 0.8 ? 'warn' : ''), ` ${Math.round(share * 100)}%`, l.of !== 'host' && div('small dim', t.most)];
    } },
  ], rows) : '';
}

export const daysAgo = (n) => {
  const d = new Date();
  return new Date(d - n * 864e5 - d.getTimezoneOffset() * 6e4).toISOString().slice(0, 10);
};

export default {
  title: t.title, viewer: true,
  async show(root, { signal, me }) {
    const days = select(t.days, [7, 30, 90].map((n) => [n, t.last(n)]), { onchange: () => load() });
    const place = div();
    root.append(bar(days), place);
    const whole = me.role !== 'viewer';
    const draw = redraw(([doc, chats]) => {
      const rows = doc.usage;
      const weight = rows.some(usd) ? usd : tokens;
      const names = new Map(chats.map((c) => [c.chatKey, c.name]));
      const by = (member, head, cell) => (rows.some((r) => r[member]) ? part(head, sums(rows, member).sort((a, b) => weight(b) - weight(a)), cell, weight) : '');
      const today = doc.today ?? daysAgo(0);
      fill(place, limits(doc.limits ?? {}, rows.filter((r) => r.day === today)), rows.length ? [
        part(t.total, sums(rows, ''), () => t.last(days.value), weight), weight === usd ? '' : p('hint', t.noPrice),
        part(t.day, sums(rows, 'day').sort((a, b) => (a.key < b.key ? 1 : -1)), (day) => span('num', day), weight),
        by('model', t.model, text), by('person', t.person, text), by('chatKey', t.chat, (key) => (whole ? chat(key, names.get(key)) : text(key))),
      ] : [empty(t.none, t.about)]);
    });
    const load = async () => draw(await Promise.all([asked('usage', { of: daysAgo(days.value - 1) }, signal), whole ? get('chats', {}, signal) : []]));
    every(15_000, signal, load);
  },
};
