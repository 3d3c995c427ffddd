// One chat: what happens in it now, what it waits for, and its history as it is stored.
import { asked, button, confirm, div, every, facts as line, fill, follow, get, h, h2, keyed, label, num, p, post, say, span, text, texts, time, when } from './parts.js';
import approvals from './approvals.js';
import outbox from './outbox.js';
import { archived, fateOf, folded, later, message, tokensOf } from './message.js';
import { Timeline } from './timeline.js';

const t = texts({
  title: ['Chat', '聊天详情'], history: ['History', '历史'], waiting: ['Waiting for the run', '等待并入运行'], empty: ['The history is empty.', '历史为空。'],
  earlier: [(n) => `Show ${n} earlier messages`, (n) => `显示更早的 ${n} 条消息`], end: ['To the end', '跳到末尾'], idle: ['at rest', '空闲'],
  key: ['Key', '键'], accepted: ['Messages accepted', '已接收消息'], open: ['Without an end yet', '尚未处理完'], pending: ['To be sent', '待发送'],
  messages: ['In the history', '历史中的消息'], tokens: ['Tokens of the history’s runs', '历史中各次运行的 token'], effort: ['Effort', '思考强度'],
  viewer: ['Your login shows counts only.', '你的登录只能查看计数。'],
  backAsk: [(n) => `Go back to before this message? ${n === 1 ? 'It goes' : `It and all after it, ${n} messages, go`} to the archive, and the model no longer sees them.`, (n) => `要回到这条消息之前吗？它${n === 1 ? '' : `及其后的消息（共 ${n} 条）`}会移入归档，模型不再看到。`],
  back: ['Go back', '回退'], backDone: [(n) => `${n} messages were archived.`, (n) => `已归档 ${n} 条消息。`],
  refused: {
    busy: ['The chat is answering. Stop it or wait.', '这个聊天正在回答，请先停止或稍候。'], no_such_message: ['The history no longer has this message.', '历史中已没有这条消息。'],
    not_at_rest: ['The chat has unfinished work.', '这个聊天还有未完成的工作。'],
  },
  archives: ['Archives', '归档'], contexts: ['Contexts it has left', '已离开的上下文'], inContext: [(n) => `messages: ${n}`, (n) => `${n} 条消息`], forget: ['Delete chat', '删除聊天'],
  forgetAsk: [(key) => `Delete the chat \u2068${key}\u2069 for good? Its messages, archives, memory, files and tasks are deleted. This cannot be undone.`, (key) => `要永久删除聊天 \u2068${key}\u2069 吗？其中的消息、归档、记忆、文件和任务都会删除，无法恢复。`],
  forgetYes: ['Delete for good', '永久删除'], pause: ['Pause', '暂停'], resume: ['Resume', '继续'], forgotten: ['The chat was deleted.', '聊天已删除。'],
  notFound: ['The message is not in the history any more; it may be in an archive.', '这条消息已不在历史中，可能在归档里。'], gone: ['There is no such chat.', '没有这个聊天。'],
});

const atOnce = 100; // messages at a time

function nameOf(list) {
  const last = list.findLast((m) => m.metadata?.chatTitle || m.role === 'user' && m.metadata?.username)?.metadata;
  return last?.chatTitle || last?.username || '';
}

function facts(doc) {
  const { counts = {}, messages = [] } = doc;
  const rows = [
    [t.key, text(doc.chatKey)], [t.model, doc.model && text(doc.model)], [t.effort, doc.effort && text(doc.effort)], [t.accepted, num(counts.accepted)], [t.open, num(counts.open)],
    ...Object.entries(counts.fates ?? {}).map(([fate, n]) => [fateOf[fate] ?? fate, num(n)]),
    [t.pending, num(counts.outboxPending)], [t.messages, doc.messages && num(messages.length)], [t.tokens, doc.messages && num(messages.reduce((sum, m) => sum + tokensOf(m), 0))],
  ];
  return h('dl', { class: 'facts small' }, rows.filter(([, v]) => v).map(([name, value]) => [h('dt', null, name), h('dd', null, value)]));
}

// Chat shows one chat and reads it again when something has happened in it.
class Chat {
  constructor(root, key, me, signal) {
    Object.assign(this, { key, me, signal, first: Infinity, name: h('strong'), state: span(), facts: div(), list: div(), queue: div(), side: div() });
    this.live = new Timeline(signal);
    this.more = button('', () => this.earlier());
    this.more.hidden = true;
    this.waiting = h('div', { hidden: true }, h2(t.waiting), this.queue);
    this.empty = h('p', { class: 'hint', hidden: true }, t.empty);
    this.draw = keyed(this.list, (m) => this.one(m), (m) => m.id);
    this.drawQueue = keyed(this.queue, (m) => message(m, {}), (m) => m.id);
    const texts = me.role !== 'viewer';
    root.append(div(texts ? 'two' : '',
      h('aside', null, p('bar', this.name, this.state, texts && h('a', { href: `#/search?${new URLSearchParams({ chat: key })}` }, t.search),
        me.orders && [this.pause = button('', () => this.turn(), 'plain'), button(t.forget, () => this.forget(), 'plain danger')]), this.side, texts ? this.live.element : p('hint', t.viewer), this.facts, texts && [this.archives(), this.contexts()]),
      texts && h('section', { 'aria-label': t.history }, p('bar', this.more, button(t.end, () => this.toEnd(), 'plain')), this.empty, this.list, this.waiting)));
  }

  one(m) {
    return message(m, { key: this.key, signal: this.signal, largest: this.largest, back: this.me.orders ? (which) => this.back(which) : null });
  }

  archives() {
    return folded(t.archives, () => later(asked('archives', { of: this.key }, this.signal), (list) => (list.length ? list.map((a) => archived(when(a.archivedAt), a.id, this)) : [t.none])));
  }

  contexts() {
    return folded(t.contexts, () => later(get('contexts', { key: this.key }, this.signal), (list) => (list.length ? list.map((c) => h('div', { class: 'box small', title: c.id },
      h('strong', null, text(c.title)), line(time(c.archivedAt), t.inContext(num(c.messages))), text(c.preview))) : [t.none])));
  }

  async read() {
    const doc = await get('chat', { key: this.key }, this.signal);
    const stay = this.doc?.messages && this.atEnd();
    this.doc = doc;
    fill(this.name, text(nameOf(doc.messages ?? []) || this.key));
    fill(this.state, label(doc.running ? 'good' : '', doc.running ? t.running : t.idle), ' ', doc.paused && label('warn', t.paused));
    if (this.pause) fill(this.pause, doc.paused ? t.resume : t.pause);
    fill(this.facts, facts(doc));
    if (!doc.messages) return;
    this.largest = Math.max(0, ...doc.messages.map(tokensOf));
    this.show();
    if (stay) this.toEnd();
  }

  // Beside the history there is room for the rest: there it stays at its end, unless people scrolled up.
  atEnd() {
    const box = this.list.closest('#root');
    return innerWidth > 1000 && box.scrollHeight - box.scrollTop - box.clientHeight < 60;
  }

  toEnd() { this.goTo(this.list.parentNode, 'end'); }

  // goTo goes there again once the browser knows how high the messages are that come into sight.
  async goTo(box, block) {
    for (let i = 0; i < 4 && !this.signal.aborted; i++) {
      box.scrollIntoView({ block });
      await new Promise(requestAnimationFrame);
    }
  }

  show() {
    const { messages, waiting = [] } = this.doc;
    this.first = Math.min(this.first, Math.max(0, messages.length - atOnce));
    this.more.hidden = this.first === 0;
    this.more.textContent = t.earlier(num(Math.min(atOnce, this.first)));
    this.draw(messages.slice(this.first));
    this.drawQueue(waiting);
    this.waiting.hidden = !waiting.length;
    this.empty.hidden = messages.length > 0;
  }

  earlier() {
    this.first = Math.max(0, this.first - atOnce);
    this.show();
  }

  // find shows a message that a link names.
  find(id) {
    const n = this.doc.messages?.findIndex((m) => m.id === id) ?? -1;
    if (n < 0) return say(t.notFound, true);
    this.first = Math.min(this.first, Math.max(0, n - 5));
    this.show();
    const box = [...this.list.children].find((e) => e.dataset.id === id);
    box.classList.add('found');
    this.goTo(box, 'center');
  }

  // soon reads the chat again, at most once a second however much happens.
  soon() {
    this.timer ??= setTimeout(() => {
      this.timer = null;
      if (!this.signal.aborted) this.read().catch(() => {}); // it is read again anyway
    }, Math.max(0, (this.last ?? 0) + 1000 - Date.now()));
    this.last = Date.now();
  }

  hear(e, fresh) {
    this.live.hear(e);
    if (e.kind === 'start' && fresh) this.live.began();
    if (e.kind !== 'lost') this.soon();
  }

  async follow() {
    let fresh = 0;
    await follow('follow', { key: this.key }, this.signal, (e) => {
      if (e.kind === 'watching') fresh = performance.now();
      this.hear(e, performance.now() - fresh < 60); // what comes at once has begun before
    });
  }

  async back(m) {
    const at = this.doc.messages.findIndex((other) => other.id === m.id);
    if (!await confirm(t.backAsk(this.doc.messages.length - at), t.back)) return;
    const result = await post('rewind', { chatKey: this.key, before: m.id });
    if (result.refused) say(t.refused[result.refused] ?? result.refused, true);
    else say(t.backDone(num(result.archived)));
    await this.read();
  }

  // turn pauses the chat, or ends that.
  async turn() {
    await post('pause', { chatKey: this.key, paused: !this.doc.paused });
    await this.read();
  }

  async forget() {
    if (!await confirm(t.forgetAsk(this.key), t.forgetYes)) return;
    await post('forget', { chatKey: this.key });
    say(t.forgotten);
    location.hash = '#/chats';
  }
}

export default {
  title: t.title, viewer: true,
  async show(root, { params, signal, me }) {
    const chat = new Chat(root, params.key, me, signal);
    try {
      await chat.read();
    } catch (e) {
      if (e.status !== 404) throw e;
      return fill(root, p('hint', t.gone));
    }
    every(me.role === 'viewer' || !chat.doc.messages ? 5000 : 2000, signal, () => (chat.doc.running || !chat.doc.messages ? chat.read() : null));
    if (!chat.doc.messages) return;
    if (params.message) chat.find(params.message);
    else if (innerWidth > 1000) chat.toEnd();
    for (const part of [approvals, outbox]) part.show(chat.side, { params: { key: params.key }, signal, me });
    await chat.follow();
  },
};
