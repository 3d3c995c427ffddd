// Small helpers that make elements. Text is only ever put into text nodes.
import { language, t } from './text.js';

export const $ = (id) => document.getElementById(id);

// h makes an element. Children are strings, nodes, arrays of them, or null; an attribute that is null or false is left out.
export function h(tag, props, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if ((value ?? false) === false) continue;
    if (name.startsWith('on')) e.addEventListener(name.slice(2).toLowerCase(), value);
    else e.setAttribute(name, value === true ? '' : value);
  }
  e.append(...flat(children));
  return e;
}

const flat = (children) => children.flat(Infinity).filter((c) => (c ?? false) !== false);

// fill replaces the children of an element.
export const fill = (e, ...children) => e.replaceChildren(...flat(children));

// text is words of others: they cannot change the direction of what stands around them.
export const text = (words) => h('bdi', null, String(words ?? ''));

const isolated = (cell) => flat([cell]).map((c) => (c instanceof Node ? c : text(c)));

// Elements with nothing but a class, which may be '', or with nothing at all.
const plain = (tag) => (kind, ...children) => h(tag, { class: kind || null }, children);
export const [div, p, span] = ['div', 'p', 'span'].map(plain);
export const code = (...children) => h('code', null, children);
export const h2 = (...children) => h('h2', null, children);

// table has columns of { head, cell(row), num }; without rows it says so.
export function table(columns, rows) {
  if (!rows.length) return p('hint', t.none);
  const kind = (c) => (c.num ? 'num' : null);
  return h('div', { class: 'scroll', tabindex: 0 }, h('table', null,
    h('thead', null, h('tr', null, columns.map((c) => h('th', { scope: 'col', class: kind(c) }, c.head)))),
    h('tbody', null, rows.map((row) => h('tr', null, columns.map((c) => h('td', { class: kind(c) }, isolated(c.cell(row)))))))));
}

// list shows many rows of one height and builds only those in sight. draw makes a row, and its first link or button
// takes the focus; keyOf tells which row is which when update(rows) replaces them.
export function list(rows, height, draw, keyOf = (row) => row) {
  const shown = new Map(); // index → element
  const space = div('space');
  const box = h('div', { class: 'list', role: 'list' }, space);
  let current = 0;

  const target = (row) => row.querySelector('a, button') ?? row;

  function make(i) {
    const row = h('div', { class: 'row', role: 'listitem', 'aria-posinset': i + 1, 'aria-setsize': rows.length }, draw(rows[i], i));
    row.dataset.i = i;
    row.style.height = `${height}px`;
    row.style.transform = `translateY(${i * height}px)`;
    target(row).tabIndex = i === current ? 0 : -1;
    return row;
  }

  function put(i) {
    const row = make(i);
    shown.set(i, row);
    space.append(row);
    return row;
  }

  function see() {
    const from = Math.max(0, Math.floor(box.scrollTop / height) - 8);
    const to = Math.min(rows.length, Math.ceil((box.scrollTop + box.clientHeight) / height) + 8);
    for (const [i, row] of shown) {
      if (i >= from && i < to || i === current && row.contains(document.activeElement)) continue;
      row.remove();
      shown.delete(i);
    }
    for (let i = from; i < to; i++) if (!shown.has(i)) put(i);
  }

  function turn(i) {
    if (shown.has(current)) target(shown.get(current)).tabIndex = -1;
    current = i;
    if (shown.has(i)) target(shown.get(i)).tabIndex = 0;
  }

  function go(i) {
    if (!rows.length) return;
    turn(Math.max(0, Math.min(rows.length - 1, i)));
    const top = current * height;
    if (top < box.scrollTop) box.scrollTop = top;
    if (top + height > box.scrollTop + box.clientHeight) box.scrollTop = top + height - box.clientHeight;
    target(shown.get(current) ?? put(current)).focus({ preventScroll: true });
    see();
  }

  const page = () => Math.max(1, Math.floor(box.clientHeight / height) - 1);
  const steps = { ArrowDown: () => 1, ArrowUp: () => -1, PageDown: page, PageUp: () => -page(), Home: () => -rows.length, End: () => rows.length };
  box.addEventListener('keydown', (e) => {
    if (!steps[e.key] || e.ctrlKey || e.altKey || e.metaKey) return;
    e.preventDefault();
    go(current + steps[e.key]());
  });
  box.addEventListener('focusin', (e) => {
    const row = e.target.closest('.row');
    if (row) turn(Number(row.dataset.i));
  });
  box.addEventListener('scroll', see, { passive: true });
  new ResizeObserver(see).observe(box);

  box.focusRow = go;
  box.update = (next) => {
    const had = shown.get(current)?.contains(document.activeElement);
    const key = rows[current] && keyOf(rows[current]);
    rows = next;
    space.style.height = `${rows.length * height}px`;
    current = Math.max(0, rows.findIndex((row) => keyOf(row) === key));
    for (const [i, row] of shown) {
      const now = i < rows.length ? make(i) : null;
      if (now && row.isEqualNode(now)) continue; // what is the same stays, also under a pointer that is pressed
      if (now) row.replaceWith(now);
      else row.remove();
      if (now) shown.set(i, now);
      else shown.delete(i);
    }
    see();
    if (!rows.length) return;
    if (had) target(shown.get(current) ?? put(current)).focus({ preventScroll: true });
    else if (!shown.has(current)) turn(Math.min(rows.length - 1, Math.ceil(box.scrollTop / height))); // Tab gets to what is seen
  };
  box.update(rows);
  return box;
}

// confirm asks in a dialog, and resolves to false unless people say yes.
export function confirm(question, yesLabel) {
  return new Promise((resolve) => {
    const dialog = h('dialog', { 'aria-label': question }, h('form', { method: 'dialog' },
      p('', text(question)),
      p('bar', h('button', { value: 'no', autofocus: true }, t.cancel), h('button', { value: 'yes', class: 'danger' }, yesLabel))),
    );
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(dialog.returnValue === 'yes');
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

let leave;

// say tells people what happened, also those who do not see the page.
export function say(words, bad = false, ms = bad ? 12_000 : 5_000) {
  const toast = $('say');
  clearTimeout(leave);
  toast.className = bad ? 'bad' : '';
  toast.textContent = words;
  leave = setTimeout(() => { toast.textContent = ''; }, ms);
}

const valid = (date) => {
  const d = new Date(date ?? NaN);
  return d.getFullYear() > 1 ? d : null; // a time of Go that is not set is in year 1
};
const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: 'short' });
const units = [['year', 31_536_000], ['month', 2_592_000], ['day', 86_400], ['hour', 3_600], ['minute', 60], ['second', 1]];
const moment = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'medium' });

export function ago(date) {
  const d = valid(date);
  if (!d) return '';
  const s = Math.round((d - Date.now()) / 1000);
  const [unit, size] = units.find(([, n]) => Math.abs(s) >= n) ?? units.at(-1);
  return relative.format(Math.trunc(s / size), unit);
}

export function when(date) {
  const d = valid(date);
  return d ? moment.format(d) : '';
}

// time shows how long ago something was, and exactly when to those who point at it.
export function time(date) {
  const d = valid(date);
  return d ? h('time', { datetime: d.toISOString(), title: when(d) }, ago(d)) : '';
}

const numbers = new Intl.NumberFormat(language);
export const num = (n) => (Number.isFinite(n) ? numbers.format(n) : '');

export function bytes(n) {
  if (!Number.isFinite(n)) return '';
  const names = ['B', 'kB', 'MB', 'GB', 'TB'];
  let i = 0;
  for (; Math.abs(n) >= 1000 && i < names.length - 1; i++) n /= 1000;
  return `${n.toFixed(i && n < 10 ? 1 : 0)} ${names[i]}`;
}

export function dollars(n) {
  return Number.isFinite(n) ? `$${n.toFixed(n !== 0 && Math.abs(n) < 1 ? 4 : 2)}` : '';
}

// every calls fn now, and again each time ms have passed while the page is seen, until the signal aborts. What goes
// wrong is shown until it works again.
export function every(ms, signal, fn) {
  const line = $('state');
  let timer, told;
  let busy = false;
  async function turn() {
    clearTimeout(timer);
    if (busy || document.hidden || signal.aborted) return;
    busy = true;
    let problem = '';
    try {
      await fn();
    } catch (e) {
      if (e.status === undefined && e.name !== 'AbortError') console.error(e);
      problem = e.status === 0 ? t.offline : `${t.failed}: ${e.message}`;
    }
    busy = false;
    if (signal.aborted) return;
    if (problem || line.textContent === told) line.textContent = problem;
    told = problem;
    timer = setTimeout(turn, ms);
  }
  document.addEventListener('visibilitychange', turn, { signal });
  signal.addEventListener('abort', () => clearTimeout(timer));
  return turn();
}
