// Parts that several pages are made of.
import { h, say, text } from '../dom.js';
import { words } from '../text.js';

export const w = words({
  colon: ': ',
  unsent: {
    rate: 'the service asks to wait', network: 'the service cannot be reached', server: 'the service has a fault', auth: 'the service refuses the bot’s token',
    forbidden: 'the bot may not write here', not_found: 'the service does not find the chat', refused: 'the service refused it', migrated: 'the chat has a new id',
  },
}, {
  colon: '：',
  unsent: {
    rate: '平台要求稍后再发', network: '无法连接平台', server: '平台出现故障', auth: '平台拒绝了机器人的凭证',
    forbidden: '机器人无权在这里发消息', not_found: '平台找不到这个聊天', refused: '平台拒绝了这条消息', migrated: '聊天的编号已变更',
  },
});

// chat links to a chat by its name, or by its key if it has none.
export const chat = (key, name) => h('a', { class: 'chat', href: `#/chat/${encodeURIComponent(key)}`, title: key }, text(name || key));

export const label = (kind, what) => h('span', { class: `label ${kind}` }, what);

// facts are short statements in a row; those that are empty are left out.
export const facts = (...list) => h('p', { class: 'line' }, list.filter(Boolean).map((f) => h('span', null, f)));

// exact shows a text as it is, with its line breaks, and can be scrolled with the keyboard.
export const exact = (what, name) => h('pre', { tabindex: 0, role: 'group', 'aria-label': name, dir: 'ltr' }, what);

// empty says what a page is for and how something gets there.
export const empty = (title, about) => h('div', null, h('p', null, h('strong', null, title)), h('p', { class: 'hint' }, about));

// trouble lists what could not be read.
export const trouble = (problems) => (problems ?? []).map((p) => h('p', { class: 'bad' }, text(`${p.path}${p.line ? `:${p.line}` : ''}: ${p.what}`), p.hint ? [' ', text(p.hint)] : null));

// button runs an order, once at a time, and says in the server's words why one failed. It is not disabled meanwhile,
// because that would take the focus away.
export function button(what, run, kind) {
  const b = h('button', { type: 'button', class: kind, onclick: async () => {
    if (b.ariaDisabled === 'true') return;
    b.ariaDisabled = 'true';
    try {
      await run();
    } catch (e) {
      if (e.status === undefined) console.error(e);
      say(e.message, true);
    }
    b.ariaDisabled = null;
  } }, what);
  return b;
}

// keyed shows items as children of a place. The element of an item that did not change stays, with its focus and what
// was typed into it; its `fresh`, if it has one, is called instead.
export function keyed(place, draw, keyOf) {
  let shown = new Map();
  return (items) => {
    const now = new Map();
    for (const item of items) {
      const json = JSON.stringify(item);
      const old = shown.get(keyOf(item));
      const same = old?.json === json;
      now.set(keyOf(item), { json, el: same ? old.el : draw(item) });
      if (same) old.el.fresh?.();
    }
    const els = [...now.values()].map((i) => i.el);
    shown = now;
    if (els.length !== place.children.length || els.some((el, i) => place.children[i] !== el)) swap(place, els);
  };
}

// swap replaces children, without moving those that stay: moving an element takes its focus away. The focus of one that
// goes moves to the one in its place.
function swap(place, els) {
  const had = [...place.children].findIndex((el) => el.contains(document.activeElement) && !els.includes(el));
  for (const old of [...place.children]) if (!els.includes(old)) old.remove();
  els.forEach((el, i) => { if (place.children[i] !== el) place.insertBefore(el, place.children[i] ?? null); });
  if (had >= 0) (els[Math.min(had, els.length - 1)]?.querySelector('button, a') ?? document.getElementById('title')).focus();
}

// redraw calls draw when a document differs from the one before.
export function redraw(draw) {
  let last;
  return (doc) => {
    const json = JSON.stringify(doc);
    if (json !== last) draw(doc);
    last = json;
  };
}
