// What may run without asking, and until when.
import { ago, every, h, say, text, when } from '../dom.js';
import { get, post } from '../wire.js';
import { t as shared, words } from '../text.js';
import { bar, button, cards, chat, empty, facts, label } from './parts.js';

const t = words({
  title: 'Grants', none: 'There are no grants: everything that needs an approval asks.', about: 'Who approves a request can allow the same kind of command for a while, in one chat. What may run without asking is here until it ends, and can be revoked.',
  who: 'for ', folder: 'in folder ', from: 'since ', until: 'ends ', ever: 'has no end', files: 'sends files that are directly in the folder ', anyone: 'for everyone there',
  revoked: (n) => `g${n} was revoked. Such commands ask again.`, late: 'This grant had ended already.',
}, {
  title: '授权', none: '没有生效的授权：所有需要批准的操作都会询问。', about: '批准请求时，可以在一段时间内允许同类命令，仅限一个聊天。授权到期前都列在这里，可以随时撤销。',
  who: '限 ', folder: '文件夹 ', from: '开始：', until: '截止：', ever: '没有期限', files: '发送直接位于此文件夹中的文件：', anyone: '聊天中的所有人',
  revoked: (n) => `g${n} 已撤销，此类命令会再次询问。`, late: '这项授权已经结束。',
});

async function revoke(g, again) {
  const done = (await post('grants', { chatKey: g.chatKey, numbers: [g.n] })).revoked.length > 0;
  say(done ? t.revoked(g.n) : t.late, !done);
  await again();
}

function card(g, orders, again) {
  const until = h('span');
  const el = h('article', { class: 'box' }, h('p', null, label('', `g${g.n}`), ' ', g.filesIn ? [t.files, text(g.filesIn)] : h('code', null, g.rule)),
    facts(chat(g.chatKey, g.name), g.for || g.person ? [t.who, text(g.for || g.person)] : t.anyone, g.folder && [t.folder, text(g.folder)], [t.from, when(g.from)], until),
    orders && bar(button(shared.revoke, () => revoke(g, again))));
  el.fresh = () => until.replaceChildren(...(g.until ? [t.until, ago(g.until)] : [t.ever]));
  return el;
}

export default {
  id: 'grants', title: t.title, owner: true,
  async show(root, { signal, me }) {
    const draw = cards(root, empty(t.none, t.about), (g) => card(g, me.orders, load), (g) => `${g.chatKey} ${g.id}`);
    const load = async () => draw(await get('grants', {}, signal));
    every(10_000, signal, load);
  },
};
