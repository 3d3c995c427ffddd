// What is remembered about the project, about people and about chats.
import { ago, bytes, confirm, every, h, say, text, when } from '../dom.js';
import { asked, post } from '../wire.js';
import { t as shared, words } from '../text.js';
import { button, chat, empty, exact, tabled } from './parts.js';

const t = words({
  title: 'Memory', none: 'There are no memories yet.', about: 'The agent notes here by itself what is worth keeping from chats, or because somebody asked it to: about the project, about people and about single chats.',
  project: 'the project', memory: 'Memory of', size: 'Size', changed: 'Changed', back: '← All memories', edit: 'Edit', saved: 'Saved. The next answer uses it.', nothing: 'Nothing is remembered here.',
  note: 'The previous version is kept in the folder backup next to it.', of: (name) => `Memory of ${name}`, leave: 'Throw away what you changed?', yes: 'Throw away',
}, {
  title: '记忆', none: '还没有任何记忆。', about: '助手会自动把聊天中值得保留的内容记在这里，也可以请它记住：关于项目、关于用户，以及关于单个聊天。',
  project: '项目', memory: '记忆', size: '大小', changed: '修改时间', back: '← 全部记忆', edit: '编辑', saved: '已保存，从下一次回答起生效。', nothing: '这里没有记忆。',
  note: '之前的版本保存在旁边的 backup 文件夹中。', of: (name) => `${name} 的记忆`, leave: '要放弃所做的修改吗？', yes: '放弃',
});

const nameOf = (memory) => (memory === 'project' ? t.project : memory.replace(/^user:/, ''));

const columns = [
  { head: t.memory, cell: (m) => h('a', { href: `#/memory/${encodeURIComponent(m.memory)}` }, text(nameOf(m.memory))) },
  { head: t.size, num: true, cell: (m) => bytes(m.bytes) },
  { head: t.changed, cell: (m) => h('span', { title: when(m.changed) }, ago(m.changed)) },
];

async function all(root, signal) {
  const place = h('div');
  root.append(place);
  const draw = tabled(place, columns, empty(t.none, t.about));
  return every(10_000, signal, async () => draw(await asked('memories', {}, signal)));
}

// one shows a memory, and lets owners edit it. The order names the text that was edited, so that a change which the
// agent made meanwhile is not lost.
async function one(root, name, signal, orders) {
  const place = h('div');
  root.append(h('p', null, h('a', { href: '#/memory' }, t.back)), h('h2', null, name.includes('-chat-') ? chat(name) : text(nameOf(name))), place);
  async function read() {
    const { text: was } = await asked('memory', { of: name }, signal);
    const edit = h('button', { type: 'button', onclick: () => write(was) }, t.edit);
    place.replaceChildren(was ? exact(was, t.of(nameOf(name))) : h('p', { class: 'hint' }, t.nothing), orders ? h('div', { class: 'bar' }, edit) : '');
    return edit;
  }
  function write(was) {
    const input = h('textarea', { 'aria-label': t.of(nameOf(name)), rows: 20, dir: 'auto' });
    input.value = was;
    const save = async () => {
      await post('memory', { memory: name, was, text: input.value });
      say(t.saved);
      (await read()).focus();
    };
    const leave = async () => {
      if (input.value === was || await confirm(t.leave, t.yes)) (await read()).focus();
    };
    place.replaceChildren(input, h('p', { class: 'hint' }, t.note), h('div', { class: 'bar' }, button(shared.save, save, 'primary'), button(shared.cancel, leave)));
    input.focus();
  }
  await read();
}

export default {
  id: 'memory', title: t.title, owner: true,
  show: (root, { params, signal, me }) => (params.key ? one(root, params.key, signal, me.orders) : all(root, signal)),
};
