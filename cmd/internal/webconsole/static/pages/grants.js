// What may run without asking, and until when.
import { ago, bar, box, button, cards, chat, code, empty, every, facts, fill, get, label, p, post, say, span, text, texts, when } from './parts.js';

const t = texts({
  title: ['Grants', '授权'], none: ['There are no grants: everything that needs an approval asks.', '没有生效的授权：所有需要批准的操作都会询问。'],
  about: ['Who approves a request can allow the same kind of command for a while, in one chat. What may run without asking is here until it ends, and can be revoked.', '批准请求时，可以在一段时间内允许同类命令，仅限一个聊天。授权到期前都列在这里，可以随时撤销。'],
  who: ['for ', '限 '], folder: ['in folder ', '文件夹 '], from: ['since ', '开始：'], until: ['ends ', '截止：'], ever: ['has no end', '没有期限'],
  files: ['sends files that are directly in the folder ', '发送直接位于此文件夹中的文件：'], anyone: ['for everyone there', '聊天中的所有人'],
  revoked: [(n) => `g${n} was revoked. Such commands ask again.`, (n) => `g${n} 已撤销，此类命令会再次询问。`], late: ['This grant had ended already.', '这项授权已经结束。'],
});

async function revoke(g, again) {
  const done = (await post('grants', { chatKey: g.chatKey, numbers: [g.n] })).revoked.length > 0;
  say(done ? t.revoked(g.n) : t.late, !done);
  await again();
}

function card(g, orders, again) {
  const until = span();
  const el = box(p('', label('', `g${g.n}`), ' ', g.filesIn ? [t.files, text(g.filesIn)] : code(g.rule)),
    facts(chat(g.chatKey, g.name), g.for || g.person ? [t.who, text(g.for || g.person)] : t.anyone, g.folder && [t.folder, text(g.folder)], [t.from, when(g.from)], until),
    orders && bar(button(t.revoke, () => revoke(g, again))));
  el.fresh = () => fill(until, g.until ? [t.until, ago(g.until)] : [t.ever]);
  return el;
}

export default {
  title: t.title,
  async show(root, { signal, me }) {
    const draw = cards(root, empty(t.none, t.about), (g) => card(g, me.orders, load), (g) => `${g.chatKey} ${g.id}`);
    const load = async () => draw(await get('grants', {}, signal));
    every(10_000, signal, load);
  },
};
