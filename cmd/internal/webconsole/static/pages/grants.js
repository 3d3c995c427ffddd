// What may run without asking, and until when.
import { every, h, say, text, when } from '../dom.js';
import { get, post } from '../wire.js';
import { t as shared, words } from '../text.js';
import { button, chat, empty, tabled } from './parts.js';

const t = words({
  title: 'Grants', none: 'There are no grants: everything that needs an approval asks.', about: 'Who approves a request can allow the same kind of command for a while, in one chat. Such grants are here until they end, and can be revoked.',
  what: 'May run without asking', who: 'For', folder: 'In folder', from: 'Since', until: 'Until', ever: 'no end', files: 'send files that are directly in the folder ', anyone: 'everyone there',
  revoked: (n) => `g${n} was revoked. Such commands ask again.`, late: 'This grant had ended already.',
}, {
  title: '授权', none: '没有生效的授权：所有需要批准的操作都会询问。', about: '批准请求时，可以在一段时间内允许同类命令，仅限一个聊天。授权到期前都列在这里，可以随时撤销。',
  what: '无需询问即可执行', who: '对象', folder: '文件夹', from: '开始', until: '截止', ever: '没有期限', files: '发送直接位于此文件夹中的文件：', anyone: '聊天中的所有人',
  revoked: (n) => `g${n} 已撤销，此类命令会再次询问。`, late: '这项授权已经结束。',
});

async function revoke(g, again) {
  const done = (await post('grants', { chatKey: g.chatKey, numbers: [g.n] })).revoked.length > 0;
  say(done ? t.revoked(g.n) : t.late, !done);
  await again();
}

export default {
  id: 'grants', title: t.title, owner: true,
  async show(root, { signal, me }) {
    const draw = tabled(root, [
      { head: '', num: true, cell: (g) => `g${g.n}` },
      { head: t.what, cell: (g) => (g.filesIn ? [t.files, text(g.filesIn)] : h('code', null, g.rule)) },
      { head: shared.chat, cell: (g) => chat(g.chatKey, g.name) },
      { head: t.who, cell: (g) => g.for || g.person || t.anyone },
      { head: t.folder, cell: (g) => g.folder },
      { head: t.from, cell: (g) => when(g.from) },
      { head: t.until, cell: (g) => (g.until ? when(g.until) : t.ever) },
      { head: '', cell: (g) => (me.orders ? button(shared.revoke, () => revoke(g, load)) : null) },
    ], empty(t.none, t.about));
    const load = async () => draw(await get('grants', {}, signal));
    every(10_000, signal, load);
  },
};
