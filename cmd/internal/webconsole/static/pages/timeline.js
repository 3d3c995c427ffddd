// What happens in a chat now: runs with all that they do, and how long it took.
import { code, div, h, h2, label, language, p, span, text, texts } from './parts.js';
import { resultOf } from './message.js';

const t = texts({
  live: ['Live', '实时'], rest: ['What happens from now on is shown here.', '从现在起发生的事情会显示在这里。'], run: ['Run', '运行'], before: ['began before this page', '在打开页面之前开始'],
  model: [(n) => `Model call${n ? `, step ${n}` : ''}`, (n) => `模型调用${n ? `，第 ${n} 步` : ''}`], asks: ['Waits for approval', '等待审批'],
  merge: ['New messages join the run', '新消息并入运行'], goes: ['Goes on in a new message', '在新消息中继续'], compaction: ['Earlier messages were condensed', '较早的消息已压缩'],
  approval: ['Request ended: ', '请求结束：'], lost: ['Connection lost', '连接已断开'], again: ['Connected again', '已重新连接'], took: [(s) => `${s} s`, (s) => `${s} 秒`],
});

const clock = new Intl.DateTimeFormat(language, { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false });
const lines = 300;

export class Timeline {
  constructor(signal) {
    this.rest = p('hint small', t.rest);
    this.list = h('ol');
    this.box = h('div', { class: 'timeline', role: 'log', tabindex: 0, 'aria-label': t.live }, this.list);
    this.element = div('', h2(t.live), this.rest, this.box);
    this.open = new Set(); // lines that go on
    this.run = null;
    this.call = null;
    this.tools = [];
    const tick = setInterval(() => this.tick(), 1000);
    signal.addEventListener('abort', () => clearInterval(tick));
  }

  line(what, kind = '') {
    const atEnd = this.box.scrollHeight - this.box.scrollTop - this.box.clientHeight < 40;
    const took = h('span', { class: 'took', 'aria-hidden': true });
    const li = h('li', { class: kind }, h('time', null, clock.format(new Date())), span('', what), took);
    this.rest.hidden = true;
    this.list.append(li);
    if (this.list.children.length > lines) this.list.firstChild.remove();
    if (atEnd) this.box.scrollTop = this.box.scrollHeight;
    return { li, took, since: performance.now() };
  }

  begin(what, kind) {
    const line = this.line(what, `${kind ?? ''} going`);
    this.open.add(line);
    return line;
  }

  finish(line, more) {
    if (!line || !this.open.delete(line)) return;
    line.li.classList.remove('going');
    this.show(line);
    if (more) line.li.children[1].append(' ', more);
  }

  show(line) {
    if (line.unknown) return;
    const s = (performance.now() - line.since) / 1000;
    line.took.textContent = t.took(s.toFixed(this.open.has(line) || s >= 10 ? 0 : 1));
  }

  tick() {
    for (const line of this.open) this.show(line);
  }

  calls(step) {
    this.finish(this.call);
    this.call = this.begin(t.model(step));
  }

  // rests ends what a run was at. A call that has begun just now was only assumed.
  rests() {
    if (this.call && performance.now() - this.call.since < 100 && this.open.delete(this.call)) this.call.li.remove();
    this.finish(this.call);
    for (const tool of this.tools) this.finish(tool);
    this.call = null;
    this.tools = [];
  }

  hear(e) {
    const kind = e.kind === 'event' ? e.name : e.kind;
    this[`on_${kind}`]?.(e);
  }

  on_start(e) {
    if (this.run?.id === e.runId) {
      this.line(t.goes);
    } else {
      this.rests();
      this.finish(this.run);
      this.run = Object.assign(this.begin([t.run, ' ', h('code', { class: 'small' }, text(e.runId))], 'head'), { id: e.runId });
    }
    this.calls();
  }

  on_tool(e) { this.tools.push(this.begin(code(text(e.name)))); }

  // A run that goes on after a decision begins with what was asked before it.
  on_asks() { if (!this.run || performance.now() - this.run.since > 100) this.line(label('warn', t.asks)); }

  on_assistant(e) {
    if (this.call && e.step) this.call.li.children[1].textContent = t.model(e.step);
    this.finish(this.call);
  }

  // Results do not say whose they are, so one is put behind its tool only where no other is at work.
  on_tool_summary(e) {
    if (this.tools.length === 1) this.finish(this.tools.pop(), text(e.text));
    else if (e.text) this.line(text(e.text), 'dim');
  }

  on_step_finish(e) {
    for (const tool of this.tools) this.finish(tool);
    this.tools = [];
    this.calls(e.step + 1);
  }

  on_merge() {
    this.rests();
    this.line(t.merge);
  }

  on_compaction() { this.line(t.compaction); }
  on_approval(e) { this.line([t.approval, text(e.text)]); }
  on_done() { this.rests(); }

  on_end(e) {
    if (!e.last) return;
    this.rests();
    this.finish(this.run);
    this.line([t.run, ' ', label(e.result === 'done' ? 'good' : e.result === 'waiting' ? 'warn' : 'bad', resultOf[e.result] ?? text(e.result))]);
    this.run = null;
  }

  // began marks a run as one whose beginning nobody has seen.
  began() {
    if (!this.run) return;
    this.run.unknown = true;
    this.run.took.textContent = t.before;
    if (this.call) this.call.unknown = true;
  }

  on_lost() {
    if (this.gone) return;
    this.gone = true;
    this.rests();
    this.line(span('bad', t.lost));
  }

  on_watching() {
    if (this.gone) this.line(t.again);
    this.gone = false;
  }
}
