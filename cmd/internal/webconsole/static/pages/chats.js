// All chats, those with the newest messages first.
import { ago, asked, div, dollars, every, fill, finder, get, h, list, num, select, span, text, texts, when } from './parts.js';
import { daysAgo, sums, tokens as used } from './usage.js';

const t = texts({
  title: ['Chats', '聊天'], find: ['Key or name', '键或名称'], platform: ['Platform', '平台'], tokens: ['tokens', 'token'], inTexts: ['Search in all messages', '在所有消息中搜索'],
  month: ['in the last 30 days', '最近 30 天'],
});

const platformOf = (key) => (key.startsWith('task-') ? 'task' : key.split('-chat-', 1)[0]);

function row(c, spent) {
  return h('a', { href: `#/chat/${encodeURIComponent(c.chatKey)}`, class: 'chat', title: when(c.updatedAt) },
    span('who', text(c.name || c.chatKey), c.name && h('bdi', { class: 'dim small' }, c.chatKey)),
    span('num', c.paused ? span('label warn', t.paused) : c.running && span('label good', t.running)),
    span('num dim', ago(c.updatedAt)),
    h('span', { class: 'num much', title: t.month }, spent ? `${num(used(spent))} ${t.tokens}` : ''),
    h('span', { class: 'num much', title: t.month }, spent?.usd ? dollars(spent.usd) : ''));
}

export default {
  title: t.title, viewer: true,
  async show(root, { params, signal, me }) {
    let all = [];
    let next = 0;
    let spent = new Map();
    const draw = () => {
      const [find, only] = [field.value.trim().toLowerCase(), platform.value];
      const fits = all.filter((c) => (!only || platformOf(c.chatKey) === only) && (!find || `${c.chatKey}\n${c.name ?? ''}`.toLowerCase().includes(find)));
      rows.update(fits);
      count.textContent = `${t.title}: ${num(fits.length)}${fits.length === all.length ? '' : ` / ${num(all.length)}`}`;
      inTexts.href = `#/search?${new URLSearchParams({ q: field.value.trim() })}`;
    };
    const field = finder(t.find, { value: params.find, oninput: draw });
    const platform = select(t.platform, [], { onchange: draw });
    const count = h('span', { class: 'dim small', role: 'status' });
    const inTexts = h('a', { hidden: me.role === 'viewer' }, t.inTexts);
    const rows = list([], 48, (c) => row(c, spent.get(c.chatKey)), (c) => c.chatKey);
    rows.setAttribute('aria-label', t.title);
    field.addEventListener('keydown', (e) => {
      if (e.key !== 'ArrowDown') return;
      e.preventDefault();
      rows.focusRow(0);
    });
    root.append(div('bar', field, platform, count, inTexts), rows);
    every(60_000, signal, async () => {
      spent = new Map(sums((await asked('usage', { of: daysAgo(29) }, signal)).usage, 'chatKey').map((s) => [s.key, s]));
      draw();
    });
    await every(3000, signal, async () => {
      if (Date.now() < next) return;
      const began = performance.now();
      const doc = await get('chats', {}, signal);
      all = doc.filter((c) => c.updatedAt); // of one that was deleted only the ids are kept
      next = Date.now() + 20 * (performance.now() - began); // a host with many chats is asked less often
      const names = ['', ...[...new Set(all.map((c) => platformOf(c.chatKey)))].sort()];
      if (names.length !== platform.length) fill(platform, names.map((n) => h('option', { value: n, selected: n === platform.value }, n || t.all)));
      draw();
    });
  },
};
