// Requests that wait: what exactly would run, and who may decide it.
import { ago, bar, box, button, chat, div, empty, every, exact, facts, fill, get, h, h2, label, p, post, say, span, text, texts, unsent, when, words } from './parts.js';

const t = texts({
  title: ['Approvals', '审批'], none: ['Nothing waits for a decision.', '没有等待审批的请求。'],
  read: ['The demonstration only shows requests. Set adapters.web.token to decide here.', '演示模式只能查看。设置 adapters.web.token 后可以在这里审批。'],
  about: ['Before the agent does something that could change or reveal something, it asks here and in its chat. The first decision counts, wherever it is made.', '助手要执行可能改动或泄露内容的操作时，会先在这里和聊天中请求批准。无论在哪里，以最先作出的决定为准。'],
  asker: ['asked by ', '发起人：'], who: ['may decide: ', '可审批者：'], nobody: ['nobody', '无人'], asked: ['asked ', '发起时间：'], until: ['expires ', '失效时间：'], gone: ['It was decided elsewhere, or has ended.', '已在别处作出决定，或已结束。'],
  runs: ['Exactly this would run, once', '批准后将原样执行一次'], unseen: ['Not shown in its chat yet: ', '还没能在聊天中显示：'], sending: ['it is still being sent.', '还在发送中。'],
  outbox: ['The outbox can send it again.', '可在发件箱中重新发送。'], reason: ['Reason for a denial (the model reads it)', '拒绝的理由（模型会看到）'],
  role: { console: ['whoever is logged in here', '在此登录者'], owner: [' (owner)', '（主人）'], admin: [' (administrator)', '（管理员）'], asker: [' (asked for it)', '（发起人）'] },
  is: {
    expired: ['has expired; nothing was done', '已失效，没有执行任何操作'], forbidden: ['may not be decided from here', '不能在这里决定'],
    unseen: ['was not completely shown in its chat yet, and stays open', '还没有在聊天中完整显示，仍在等待'], approved: ['approved', '已批准'], denied: ['denied', '已拒绝'],
  },
});

function unseen({ reason, parked }) {
  return p('warn', t.unseen, reason ? unsent(reason) : t.sending, parked ? [' ', h('a', { href: '#/outbox' }, t.outbox)] : null);
}

const person = (id, name) => h('bdi', { title: id }, name || id);

const deciders = (list = []) => (list.length ? list.map((d, i) => [i > 0 && '; ', d.id && person(d.id, d.name), t.role[d.role]]) : t.nobody);

// Request is a request on the page. It keeps its place when it is no longer open, so that no click that is meant for one
// decides another one.
class Request {
  constructor(l, orders, again) {
    Object.assign(this, { l, again, el: box(), left: span(), end: bar() });
    this.reason = h('input', { class: 'grow', placeholder: t.reason, 'aria-label': t.reason, maxlength: 500 });
    if (orders) this.end.append(this.decider(t.approve, true, 'primary'), this.decider(t.deny, false), this.reason);
    this.draw();
  }

  draw() {
    const { l } = this;
    const { title, what, risk } = words([l, l.zh?.what ? l.zh : l]);
    fill(this.el, h2(label('', `#${l.n}`), ' ', text(title || l.tool)), facts(chat(l.chatKey, l.name), l.asker && [t.asker, person(l.asker, l.askerName)], [t.asked, when(l.asked)], this.left),
      facts([t.who, deciders(l.deciders)]), p('', text(what)), risk ? p('warn', text(risk)) : '', l.unseen ? unseen(l.unseen) : '', l.exact ? exact(l.exact, t.runs) : '', this.end);
  }

  decider(name, approve, kind) {
    const b = button(name, () => this.decide(approve), kind);
    b.setAttribute('aria-label', `${name} #${this.l.n}`);
    return b;
  }

  // decide sends the digest of what was shown, because numbers begin anew in a chat that was deleted.
  async decide(approve) {
    const { chatKey, n, digest } = this.l;
    const reason = approve ? '' : this.reason.value.trim();
    const { decided } = await post('approvals', { chatKey, numbers: [n], approve, reason, digest });
    const is = decided?.[0]?.is;
    const told = t.is[is === 'done' ? approve ? 'approved' : 'denied' : is] ?? t.gone;
    say(`#${n} ${told}`, is !== 'done');
    if (is !== 'unseen' && is !== 'forbidden') this.close(told);
    this.again();
  }

  // update shows the request as it is now: not open any more if there is no line for it.
  update(l) {
    if (this.closed) return;
    if (!l) return this.close(t.gone);
    if (JSON.stringify(l) !== JSON.stringify(this.l)) {
      this.l = l;
      this.draw();
    }
    fill(this.left, t.until, ago(l.expires));
  }

  close(told) {
    const had = this.end.contains(document.activeElement);
    this.closed = true;
    this.left.remove();
    fill(this.end, h('strong', { tabindex: -1 }, told));
    this.el.classList.add('closed');
    if (had) this.end.firstChild.focus();
  }
}

export default {
  title: t.title,
  // With a key it is part of another page, for that chat.
  async show(root, { params: { key }, signal, me }) {
    const place = div();
    const none = empty(t.none, t.about);
    none.hidden = true;
    root.append(me.orders || key ? '' : p('hint', t.read), place, none);
    const requests = new Map();
    let loaded = false;
    const load = async () => {
      const lines = new Map((await get('approvals', { key }, signal)).map((l) => [`${l.chatKey} ${l.id}`, l]));
      for (const [id, l] of lines) {
        if (requests.has(id)) continue;
        if (loaded) say(`${t.title} #${l.n}`);
        requests.set(id, new Request(l, me.orders, load));
        place.append(requests.get(id).el);
      }
      for (const [id, r] of requests) r.update(lines.get(id));
      none.hidden = key || lines.size > 0;
      loaded = true;
    };
    every(3000, signal, load);
  },
};
