// A small reader of Markdown that makes elements, never HTML text: paragraphs,
// headings, lists, tables, quotes, code, bold, italics and links to http and https.

import { copy } from './copy.js';
import { t } from './text.js';

const el = (name, ...children) => {
  const e = document.createElement(name);
  e.append(...children);
  return e;
};

// Lengths are bounded, so that no text takes longer than its size asks for.
const inlinePattern = /(`+)([^`]|[^`][\s\S]{0,2000}?[^`])\1(?!`)|\*\*(?=\S)([\s\S]{0,2000}?\S)\*\*|\*(?=[^\s*])([^*]{0,2000}[^\s*])\*|\[([^\][]+)\]\(([^()\s]+)\)|(https?:\/\/[^\s<>"'()（）。，]+[^\s<>"'()（）。，.,;:!?])|\\([!-/:-@[-`{-~])/;

export function link(url, text) {
  let parsed;
  try {
    parsed = new URL(url);
  } catch {
    return null;
  }
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') return null;
  const a = el('a', text);
  a.href = parsed.href;
  a.rel = 'noopener noreferrer nofollow';
  a.target = '_blank';
  return a;
}

function inline(text, depth = 0) {
  const out = [];
  while (text) {
    const m = depth < 4 ? inlinePattern.exec(text) : null;
    if (!m) break;
    if (m.index > 0) out.push(text.slice(0, m.index));
    const [whole, , code, strong, em, label, target, bare, escaped] = m;
    if (escaped !== undefined) out.push(escaped);
    else if (code !== undefined) out.push(el('code', code));
    else if (strong !== undefined) out.push(el('strong', ...inline(strong, depth + 1)));
    else if (em !== undefined) out.push(el('em', ...inline(em, depth + 1)));
    else if (label !== undefined) out.push(link(target, label) ?? whole);
    else out.push(link(bare, bare) ?? bare);
    text = text.slice(m.index + whole.length);
  }
  if (text) out.push(text);
  return out;
}

const bullet = /^(\s{0,8})([-*+]|\d{1,9}[.)])\s+(.*)$/;
const heading = /^(#{1,6})\s+(.*?)#*$/;
const ruler = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;
const fence = /^\s{0,3}(```+(?=[^`]*$)|~~~+)\s*([\w+#.-]*)/; // with a backtick behind it, it is code within a line
const fenceInList = /^(\s{1,12})(```+(?=[^`]*$)|~~~+)\s*([\w+#.-]*)/;
const rule = /^ {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$/;

// format returns a fragment for a finished text.
export function format(text) {
  const out = document.createDocumentFragment();
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  let i = 0;
  while (i < lines.length) {
    const line = lines[i];
    const code = fence.exec(line);
    if (code) {
      i = fenced(out, lines, i + 1, code);
    } else if (line.length < 200 && rule.test(line)) {
      out.append(el('hr'));
      i++;
    } else if (heading.test(line)) {
      const [, marks, words] = heading.exec(line);
      out.append(el(`h${Math.min(6, marks.length + 2)}`, ...inline(words.trim())));
      i++;
    } else if (isTable(lines, i)) {
      i = table(out, lines, i);
    } else if (bullet.test(line)) {
      i = list(out, lines, i);
    } else if (line.startsWith('>')) {
      let end = i;
      while (end < lines.length && lines[end].startsWith('>')) end++;
      out.append(el('blockquote', ...inline(lines.slice(i, end).map((l) => l.replace(/^>\s?/, '')).join('\n'))));
      i = end;
    } else if (line.trim() === '') {
      i++;
    } else {
      let end = i + 1;
      while (end < lines.length && lines[end].trim() && !fence.test(lines[end]) && !bullet.test(lines[end]) &&
        !heading.test(lines[end]) && !lines[end].startsWith('>') && !isTable(lines, end)) end++;
      out.append(el('p', ...inline(lines.slice(i, end).join('\n'))));
      i = end;
    }
  }
  return out;
}

// fenced takes lines of code, without the indentation that their fence has.
function fenced(out, lines, i, [, marks, name], indent = 0) {
  const start = i;
  while (i < lines.length && !(lines[i].trim().startsWith(marks) && !lines[i].trim().slice(marks.length).replaceAll(marks[0], ''))) i++;
  const text = lines.slice(start, i).map((l) => l.slice(Math.min(indent, l.length - l.trimStart().length))).join('\n');
  const pre = el('pre', el('code', text));
  if (name) pre.dataset.name = name;
  pre.tabIndex = 0;
  const take = el('button', t.copy);
  take.type = 'button';
  take.className = 'plain';
  take.addEventListener('click', () => copy(text, take));
  const box = el('div', pre, take);
  box.className = 'code';
  out.append(box);
  return i + 1;
}

const isTable = (lines, i) => lines[i].includes('|') && (lines[i + 1] ?? '').includes('|') && lines[i + 1].length < 1000 && ruler.test(lines[i + 1]);

function table(out, lines, i) {
  const cells = (line) => line.replaceAll('\\|', '\0').trim().replace(/^\||\|$/g, '').split('|').map((c) => c.trim().replaceAll('\0', '|'));
  const head = cells(lines[i]);
  const row = (kind, list) => el('tr', ...head.map((_, n) => el(kind, ...inline(list[n] ?? ''))));
  const body = el('tbody');
  const box = el('table', el('thead', row('th', head)), body);
  for (i += 2; i < lines.length && lines[i].includes('|'); i++) body.append(row('td', cells(lines[i])));
  const frame = el('div', box);
  frame.className = 'wide-table';
  frame.tabIndex = 0;
  out.append(frame);
  return i;
}

// list makes nested lists by indentation.
function list(out, lines, i) {
  const stack = [];
  for (; i < lines.length; i++) {
    const code = stack.length ? fenceInList.exec(lines[i]) : null;
    if (code) {
      i = fenced(stack.at(-1).item, lines, i + 1, code.slice(1), code[1].length) - 1;
      continue;
    }
    const m = bullet.exec(lines[i]);
    if (!m) {
      if (lines[i].trim() && /^\s{2,}/.test(lines[i]) && stack.length) {
        stack.at(-1).item.append('\n', ...inline(lines[i].trim()));
        continue;
      }
      break;
    }
    const [, indent, mark, words] = m;
    while (stack.length > 1 && indent.length < stack.at(-1).indent) stack.pop();
    const item = el('li', ...inline(words));
    if (!stack.length || indent.length > stack.at(-1).indent + 1) {
      const box = el(/\d/.test(mark) ? 'ol' : 'ul', item);
      if (box.localName === 'ol') box.start = parseInt(mark, 10);
      (stack.at(-1)?.item ?? out).append(box);
      stack.push({ indent: indent.length, box, item });
    } else {
      stack.at(-1).box.append(item);
      stack.at(-1).item = item;
    }
  }
  return i;
}
