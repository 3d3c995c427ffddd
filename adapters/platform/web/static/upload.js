// Files that people add to a message: chosen, dropped on the page or pasted. Each goes to
// the host at once, and the message names those that are there.
import { language, t } from './text.js';
import { button, el } from './view.js';

const most = 10; // of one message

// Uploads are the files of the message that is being written.
export class Uploads {
  // list shows the files; chat gives the id of the chat; changed is called after every change.
  constructor(list, chat, changed) {
    Object.assign(this, { list, chat, changed, items: [] });
  }

  // add begins to upload files.
  add(files) {
    for (const file of files) {
      const item = { file, part: null, done: 0, fault: '', state: el('span', '') };
      const drop = button('plain', '×', () => this.remove(item));
      drop.setAttribute('aria-label', t.removeFile(file.name || t.file));
      item.node = el('li', 'chip', file.name || t.file, item.state, drop);
      this.items.push(item);
      this.list.append(item.node);
      if (this.items.length > most) item.fault = t.tooManyFiles(most);
      else this.send(item);
      this.draw(item);
    }
    this.changed();
  }

  send(item) {
    const chat = this.chat();
    const name = item.file.name || 'image.png';
    const to = new XMLHttpRequest(); // fetch tells no progress
    item.request = to;
    to.open('POST', `api/chat/${encodeURIComponent(chat)}/files?name=${encodeURIComponent(name)}`);
    to.setRequestHeader('Content-Type', item.file.type || 'application/octet-stream');
    to.upload.addEventListener('progress', (e) => {
      if (e.lengthComputable) item.done = Math.floor((e.loaded / e.total) * 100);
      this.draw(item);
    });
    to.addEventListener('loadend', () => {
      item.request = null;
      if (to.status === 200) item.part = JSON.parse(to.responseText);
      else item.fault = said(to);
      this.draw(item);
      this.changed();
    });
    to.send(item.file);
  }

  draw(item) {
    const state = item.fault || (item.part ? '' : t.uploading(item.done));
    item.node.classList.toggle('error', Boolean(item.fault));
    if (item.fault) item.state.setAttribute('role', 'alert'); // percents are not read out
    item.state.textContent = state ? ` – ${state} ` : ' ';
  }

  remove(item) {
    item.request?.abort();
    this.items = this.items.filter((i) => i !== item);
    const held = item.node.contains(document.activeElement);
    item.node.remove();
    if (held) (this.list.querySelector('button') ?? document.getElementById('attach')).focus(); // what is gone has no focus
    this.changed();
  }

  // waiting tells that a file is on its way; failed, that one was not taken.
  waiting() { return this.items.some((i) => i.request); }

  failed() { return this.items.some((i) => i.fault); }

  // take gives the parts for a message, and forgets the files.
  take() {
    const parts = this.items.filter((i) => i.part).map((i) => i.part);
    this.clear();
    return parts;
  }

  clear() {
    for (const i of this.items) i.request?.abort();
    this.items = [];
    this.list.replaceChildren();
    this.changed();
  }
}

// said is why a file was not taken, in the language of the page.
function said(answer) {
  if (!answer.status) return t.problem.network;
  let code = '';
  let message = '';
  try {
    ({ error: code, message } = JSON.parse(answer.responseText));
  } catch { /* not of the host */ }
  if (code === 'file_too_large') return t.fileTooLarge(message.match(/(\d+) MB/)?.[1] ?? '');
  return t.problem[code] ?? `${t.problem.other}: ${message || answer.status}`;
}

// takeFrom lets files be chosen with a button, dropped anywhere and pasted.
export function takeFrom(uploads, { pick, open, input }) {
  open.addEventListener('click', () => pick.click());
  pick.addEventListener('change', () => { uploads.add(pick.files); pick.value = ''; input.focus(); });
  input.addEventListener('paste', (e) => {
    if (!e.clipboardData?.files.length) return;
    e.preventDefault();
    uploads.add(e.clipboardData.files);
  });
  const drags = (e) => e.dataTransfer?.types.includes('Files');
  document.addEventListener('dragover', (e) => { if (drags(e)) { e.preventDefault(); document.body.classList.add('drop'); } });
  document.addEventListener('dragleave', (e) => { if (!e.relatedTarget) document.body.classList.remove('drop'); });
  document.addEventListener('drop', (e) => {
    document.body.classList.remove('drop');
    if (!drags(e)) return;
    e.preventDefault();
    uploads.add(e.dataTransfer.files);
  });
}

// shownFile is a file of a message: a picture that can be opened, or a link to save it.
export function shownFile(part) {
  const name = part.filename || t.file;
  const chat = location.hash.match(/^#\/c\/(.+)$/)?.[1]; // of the page
  const url = part.url?.startsWith('/api/chat/') ? part.url.slice(1)
    : part.url?.startsWith('ship-file:') && chat ? `api/chat/${chat}/files/${encodeURIComponent(part.url.slice('ship-file:'.length))}` : '';
  if (!url) return el('p', 'chip', `${t.file}: ${part.filename ?? part.mediaType ?? ''}`);
  return link(name, url, part.mediaType);
}

// sentFiles are the files that a call gave to people: each with its name and size.
export function sentFiles(output) {
  const list = Array.isArray(output?.files) ? output.files : [];
  return list.filter((f) => /^\/api\/chat\/[^/]+\/files\/sent-[0-9a-f]{32}\/[^/?#]+$/.test(f.url))
    .map((f) => {
      const a = link(`${f.name}`, f.url.slice(1), f.mediaType);
      return el('figure', 'sent', a, el('figcaption', '', a.download ? size(f.bytes) : `${f.name}, ${size(f.bytes)}`));
    });
}

function size(bytes) {
  const units = ['byte', 'kilobyte', 'megabyte'];
  let n = Number(bytes) || 0;
  while (n >= 1000 && units.length > 1) { n /= 1000; units.shift(); }
  return n.toLocaleString(language, { style: 'unit', unit: units[0], unitDisplay: units[0] === 'byte' ? 'long' : 'short', maximumFractionDigits: n < 10 ? 1 : 0 });
}

function link(name, url, mediaType) {
  const a = el('a', 'chip file', name);
  a.href = url;
  if (/^image\/(png|jpeg|gif|webp)$/.test(mediaType)) {
    const img = el('img', 'picture');
    img.src = url;
    img.alt = name;
    img.loading = 'lazy';
    a.replaceChildren(img);
    a.target = '_blank';
    a.rel = 'noopener';
  } else a.download = name;
  return a;
}
