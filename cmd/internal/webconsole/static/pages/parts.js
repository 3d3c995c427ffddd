// Parts of several pages, and all that these need of the other files.
import { $, div, fill, h, num, p, say, span, table, text } from '../dom.js';
import { words } from '../text.js';

export * from '../dom.js';
export * from '../text.js';
export * from '../wire.js';

const reasons = words({
  rate: ['the service asks to wait', '平台要求稍后再发'], network: ['the service cannot be reached', '无法连接平台'], server: ['the service has a fault', '平台出现故障'],
  auth: ['the service refuses the bot’s token', '平台拒绝了机器人的凭证'], forbidden: ['the bot may not write here', '机器人无权在这里发消息'],
  not_found: ['the service does not find the chat', '平台找不到这个聊天'], refused: ['the service refused it', '平台拒绝了这条消息'],
});

// unsent says why a message could not be sent.
export const unsent = (reason) => reasons[reason] ?? reasons.refused;

// chat links to a chat by its name, or by its key if it has none.
export const chat = (key, name) => h('a', { href: `#/chat/${encodeURIComponent(key)}`, title: key }, text(name || key));

export const label = (kind, what) => span(`label ${kind}`, what);

// facts are short statements in a row; those that are empty are left out.
export const facts = (...list) => p('line', list.filter(Boolean).map((f) => span('', f)));

// exact shows a text as it is, with its line breaks, and can be scrolled with the keyboard.
export const exact = (what, name) => h('pre', { tabindex: 0, role: 'group', 'aria-label': name, dir: 'ltr' }, what);

// empty says what a page is for and how something gets there.
export const empty = (title, about) => div('', p('', h('strong', null, title)), p('hint', about));

// finder is a field for words to search for.
export const finder = (name, props) => h('input', { type: 'search', class: 'grow', placeholder: name, 'aria-label': name, ...props });

// select offers values, which are shown as they are or by words of their own.
export const select = (name, options, props) => h('select', { 'aria-label': name, ...props }, options.map((o) => [o].flat()).map(([value, shown = value]) => h('option', { value }, shown)));

// trouble lists files that could not be read.
export const trouble = (problems) => (problems ?? []).map((f) => p('bad', text(`${f.path}${f.line ? `:${f.line}` : ''}: ${f.what}${f.hint ? ` (${f.hint})` : ''}`)));

// visible writes characters that cannot be seen as escapes.
export const visible = (s) => s.replace(/(?![\n\t])\p{C}|[\u2028\u2029]/gu, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);

// unseen is a word that only screen readers say.
export const unseen = (what) => span('hidden', what);

export const box = (...children) => h('article', { class: 'box' }, children);

// bar is a row of buttons.
export const bar = (...children) => div('bar', children);

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
// was typed into it; its `fresh`, if it has one, is called.
export function keyed(place, draw, keyOf) {
  let shown = new Map();
  return (items) => {
    const now = new Map();
    for (const item of items) {
      const json = JSON.stringify(item);
      const old = shown.get(keyOf(item));
      now.set(keyOf(item), old?.json === json ? old : { json, el: draw(item) });
    }
    shown = now;
    for (const { el } of now.values()) el.fresh?.();
    swap(place, [...now.values()].map((i) => i.el));
  };
}

// swap replaces children, without moving those that stay: moving an element takes its focus away. The focus of one that
// goes moves to the one in its place.
function swap(place, els) {
  const stay = new Set(els);
  const had = [...place.children].findIndex((el) => !stay.has(el) && el.contains(document.activeElement));
  for (const old of [...place.children]) if (!stay.has(old)) old.remove();
  els.forEach((el, i) => { if (place.children[i] !== el) place.insertBefore(el, place.children[i] ?? null); });
  if (had >= 0) (els[Math.min(had, els.length - 1)]?.querySelector('button, a') ?? $('title')).focus();
}

const most = 200;

// cards appends keyed items to a page, and `none`, which is seen if there are no items. Of many it shows the first.
export function cards(root, none, draw, keyOf) {
  const [place, more] = [div(), p('hint')];
  const update = keyed(place, draw, keyOf);
  none.hidden = true;
  root.append(place, more, none);
  return (items) => {
    update(items.slice(0, most));
    more.textContent = items.length > most ? `+ ${num(items.length - most)}` : '';
    none.hidden = items.length > 0;
  };
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

// tabled shows a list as a table, or `none` if it is empty.
export const tabled = (place, columns, none) => redraw((list) => fill(place, list.length ? table(columns, list) : none));
