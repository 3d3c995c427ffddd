// Messages as elements. Texts are set as text; nothing here takes HTML.
import { format, link } from './format.js';
import { clock, language, t } from './text.js';
import { sentFiles, shownFile } from './upload.js';

const el = (name, cls, ...children) => {
  const e = document.createElement(name);
  if (cls) e.className = cls;
  e.append(...children);
  return e;
};

const button = (cls, text, run) => {
  const b = el('button', cls, text);
  b.type = 'button';
  b.addEventListener('click', run);
  return b;
};

// named is a name or a title within a sentence: short, and nothing that would turn the sentence around.
const named = (text) => [...(text ?? '').replace(hidden, '')].slice(0, 60).join('');

let described = 0; // requests so far, for the ids of their sentences
const maxShown = 500;
const cut = (s) => (s.length > maxShown ? `${s.slice(0, maxShown)}…` : s);
const hidden = /[\p{C}\u2028\u2029]/gu;
// exact shows a whole input; what cannot be seen is written as an escape.
const exact = (v) => JSON.stringify(v ?? null, null, 2).replace(hidden, (c) => (c === '\n' ? c
  : [...Array(c.length).keys()].map((i) => `\\u${c.charCodeAt(i).toString(16).padStart(4, '0')}`).join('')));
const show = (v) => cut(typeof v === 'string' ? v : JSON.stringify(v, null, 2));

// spoken is a voice message with its words.
const spoken = (part) => {
  const sound = el('audio', '');
  sound.controls = true;
  sound.preload = 'none';
  sound.src = part.output.audio.url;
  return el('figure', 'voice', sound, el('figcaption', 'text stream', `${part.input?.text ?? ''}`));
};

// Row is one message on the page.
export class Row {
  constructor(message, act) {
    this.message = message;
    this.act = act;
    this.nodes = new Map();
    this.body = el('div', 'body');
    this.note = el('p', 'note');
    this.tools = el('p', 'acts');
    this.head = el('p', 'who');
    this.element = el('li', `msg ${message.role}`, this.head, this.body, this.note, this.tools);
    this.element.dataset.id = message.id;
    this.steps = 0;
    this.draw();
  }

  // draw makes the row anew from its message.
  draw() {
    const m = this.message;
    const summary = m.metadata?.kind === 'summary';
    this.element.classList.toggle('summary', summary);
    this.head.replaceChildren(m.role === 'user' ? m.metadata?.username || t.you : summary ? t.summary : t.assistant);
    if (m.metadata?.demo) {
      const mark = el('span', 'label demo', t.demo);
      mark.title = t.demoHint;
      this.head.append(' ', mark);
    }
    if (m.metadata?.ts) {
      const at = new Date(m.metadata.ts);
      const time = el('time', '', clock(at));
      time.dateTime = at.toISOString();
      this.head.append(' ', time);
    }
    this.nodes.clear();
    this.body.replaceChildren();
    this.steps = 0;
    for (const part of m.parts ?? []) this.part(part);
  }

  // part draws one part, or draws it again.
  part(part) {
    const old = this.nodes.get(part);
    if (old && (part.type === 'text' || part.type === 'reasoning') && part.state === 'streaming') {
      const text = old.querySelector('.stream') ?? old;
      if (text.firstChild) text.firstChild.appendData(part.text.slice(text.firstChild.length));
      else text.append(part.text);
      return;
    }
    const node = this.make(part);
    if (!node) return;
    if (old) {
      if (old.open) node.open = true;
      old.replaceWith(node);
    } else this.body.append(node);
    this.nodes.set(part, node);
  }

  make(part) {
    if (part.type.startsWith('tool') || part.type === 'dynamic-tool') return this.tool(part);
    switch (part.type) {
      case 'text':
        if (part.state === 'streaming' || this.message.role === 'user') return el('div', 'text stream', part.text);
        return part.text ? el('div', 'text', format(part.text)) : el('div', 'text');
      case 'reasoning':
        return el('details', 'chip', el('summary', '', t.thinking), el('div', 'stream', part.text));
      case 'step-start':
        this.steps++;
        return this.steps > 1 ? el('p', 'step', t.step(this.steps)) : null;
      case 'source-url':
        return el('p', 'chip', `${t.source}: `, link(part.url, part.title || part.url) ?? part.title ?? '');
      case 'source-document':
        return el('p', 'chip', `${t.source}: ${part.filename ?? part.title ?? part.mediaType ?? ''}`);
      case 'file':
        return shownFile(part);
      case 'error':
        return el('p', 'error', part.text);
      default:
        return null;
    }
  }

  tool(part) {
    const name = part.toolName ?? part.type.replace(/^tool-/, '');
    const files = name === 'chat_send' || name === 'chat_send_file' ? sentFiles(part.output) : [];
    if (name === 'chat_send' && part.state !== 'approval-requested' && typeof part.input?.text === 'string') return el('div', 'text', format(part.input.text), ...files);
    if (files.length) return el('div', 'text', ...files);
    if (name === 'tts_speak' && part.output?.audio?.url?.startsWith?.('/api/chat/')) return spoken(part);
    if (part.state === 'approval-requested') {
      const said = this.act.decided(part.approval?.id);
      if (said === undefined) return this.request(part, name);
      part = { ...part, state: 'approval-responded', approval: { ...part.approval, approved: said } };
    }
    const state = el('span', 'state', this.stateOf(part));
    const box = el('details', `chip tool ${part.state}`, el('summary', '', el('b', '', language === 'zh' && this.asked(part)?.zh?.title || t.titleOf?.[name] || part.title || name), ' ', state));
    if (part.input !== undefined) box.append(el('h4', '', t.input), el('pre', '', show(part.input)));
    if (part.errorText) box.append(el('h4', '', t.output), el('pre', 'error', cut(part.errorText)));
    else if (part.output !== undefined) box.append(el('h4', '', t.output), el('pre', '', show(part.output)));
    else if (part.state === 'output-denied' && part.approval?.reason) box.append(el('p', '', cut(part.approval.reason)));
    return box;
  }

  // stateOf is what became of a call, and who decided it where that is known.
  stateOf(part) {
    const word = part.state !== 'approval-responded' ? t.stateOf[part.state] : part.approval?.approved ? t.approved : t.denied;
    const asked = this.asked(part);
    if (t.endOf[asked?.answer]) return t.endOf[asked.answer];
    const name = asked?.by?.endsWith('-owner') ? '' : named(asked?.byName); // the owner is whoever reads this page
    return name ? t.by(word ?? part.state, name, asked.answer === 'approved') : word ?? part.state;
  }

  // asked is what the message keeps of a call that asked.
  asked(part) {
    return this.message.metadata?.approvals?.requests?.find((r) => r.id === part.approval?.id);
  }

  // request is one plain sentence, what exactly would take effect, and the two answers.
  request(part, name) {
    const shown = this.asked(part);
    const said = (language === 'zh' && shown?.zh?.what && shown.zh) || shown;
    const asks = el('p', 'asks', said?.what || t.asksFor(part.title || name));
    const box = el('section', `chip tool ${part.state}`, asks);
    box.dataset.request = part.approval?.id ?? '';
    if (said?.risk) box.append(el('p', 'risk', said.risk));
    if (shown?.exact || !shown?.what) box.append(el('pre', 'exact', shown?.exact || exact(part.input)));
    if (shown) box.append(el('p', 'when', t.asked(shown.n, shown.asker === 'owner' ? '' : named(shown.asker), shown.expires)));
    if (shown?.filesIn) box.append(el('p', 'when', t.folder(shown.n, shown.filesIn)));
    box.append(el('p', 'decide', button('approve', t.approve, () => this.act.decide(this, part, true)),
        button('deny', t.deny, () => this.act.decide(this, part, false))));
    box.setAttribute('aria-label', shown ? `${t.asks} #${shown.n}` : t.asks);
    asks.id = `asks-${++described}`; // several requests have buttons of the same name
    for (const b of box.querySelectorAll('.decide button')) b.setAttribute('aria-describedby', asks.id);
    return box;
  }

  // status is what stands under the message: waiting, failed, merged.
  status(text, retry) {
    this.note.replaceChildren(text ?? '');
    if (retry) this.note.append(' ', button('plain', t.retry, retry));
  }

  // offer sets the buttons of the message.
  offer(list) {
    this.tools.replaceChildren(...list.map(([text, run]) => button('plain', text, run)));
  }

  text() {
    return (this.message.parts ?? []).filter((p) => p.type === 'text').map((p) => p.text).join('\n\n');
  }
}

export { button, el, named };
