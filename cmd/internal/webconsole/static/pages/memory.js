// What is remembered about the project, about people and about chats.
import { asked, bar, button, bytes, chat, confirm, div, empty, every, exact, fill, h, h2, p, post, say, tabled, text, texts, time } from './parts.js';

const t = texts({
  title: ['Memory', '记忆'], none: ['There are no memories yet.', '还没有任何记忆。'],
  about: ['The agent notes what is worth keeping: about the project, about people and about single chats. It does so by itself, or when somebody asks it to.', '助手会记下值得保留的内容：关于项目、关于用户，以及关于单个聊天。可以由它自动记录，也可以请它记住。'],
  project: ['the project', '项目'], changed: ['Changed', '修改时间'], back: ['← All memories', '← 全部记忆'], edit: ['Edit', '编辑'],
  saved: ['Saved. The next answer uses it.', '已保存，从下一次回答起生效。'], nothing: ['Nothing is remembered here.', '这里没有记忆。'],
  note: ['The version before is kept in the folder backup beside it.', '之前的版本保存在旁边的 backup 文件夹中。'], leave: ['Discard your changes?', '要放弃所做的修改吗？'],
  yes: ['Discard', '放弃修改'],
});

const nameOf = (memory) => (memory === 'project' ? t.project : memory.replace(/^user:/, ''));

function all(root, signal) {
  const draw = tabled(root, [
    { head: t.name, cell: (m) => h('a', { href: `#/memory/${encodeURIComponent(m.memory)}` }, text(nameOf(m.memory))) },
    { head: t.size, num: true, cell: (m) => bytes(m.bytes) },
    { head: t.changed, cell: (m) => time(m.changed) },
  ], empty(t.none, t.about));
  return every(10_000, signal, async () => draw(await asked('memories', {}, signal)));
}

// one shows a memory, and lets owners edit it. The order has the text that was edited, so that what the agent noted
// meanwhile is not lost.
async function one(root, name, signal, orders) {
  const place = div();
  root.append(p('', h('a', { href: '#/memory' }, t.back)), h2(name.includes('-chat-') ? chat(name) : text(nameOf(name))), place);
  async function read() {
    const was = (await asked('memory', { of: name }, signal)).text;
    const edit = button(t.edit, () => write(was));
    fill(place, was ? exact(was, t.title) : p('hint', t.nothing), orders ? bar(edit) : '');
    return edit;
  }
  function write(was) {
    const input = h('textarea', { 'aria-label': t.title, rows: 20, dir: 'auto' });
    input.value = was;
    const save = async () => {
      await post('memory', { memory: name, was, text: input.value });
      say(t.saved);
      (await read()).focus();
    };
    const leave = async () => {
      if (input.value === was || await confirm(t.leave, t.yes)) (await read()).focus();
    };
    fill(place, input, p('hint', t.note), bar(button(t.save, save, 'primary'), button(t.cancel, leave)));
    input.focus();
  }
  await read();
}

export default {
  title: t.title,
  show: (root, { params, signal, me }) => (params.key ? one(root, params.key, signal, me.orders) : all(root, signal)),
};
