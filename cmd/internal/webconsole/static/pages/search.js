// Words in the messages of all chats, also in archived ones.
import { box, chat, facts, finder, get, h, num, p, text, texts, time } from './parts.js';
import { folded, message } from './message.js';

const t = texts({
  title: ['Search', '搜索'], words: ['Words', '词语'],
  about: ['Searches the messages of all chats, also archived ones. Every word must be in the message.', '搜索所有聊天中的消息，包括已归档的。消息必须包含每个词。'],
  inChat: ['Only in the chat', '仅在聊天'], open: ['Show it in the chat', '在聊天中显示'], archived: ['archived', '已归档'],
  found: [(n) => (n === 1 ? '1 message' : `${num(n)} messages`), (n) => `${num(n)} 条消息`], most: ['. There may be more: only the best are shown.', '，可能还有更多，只显示最相关的。'],
});

const most = 50;

function hit(l) {
  return box(
    facts(chat(l.chatKey, l.name), time(l.at), /archive/.test(l.place) ? t.archived
      : h('a', { href: `#/chat/${encodeURIComponent(l.chatKey)}?${new URLSearchParams({ message: l.message.id })}` }, t.open)),
    p('words', text(l.excerpt)), folded(t.more, () => message(l.message, {}), 'small'));
}

export default {
  title: t.title,
  async show(root, { params, signal }) {
    const field = finder(t.words, { value: params.q });
    const form = h('form', { class: 'bar', role: 'search', onsubmit: (e) => {
      e.preventDefault();
      location.hash = `#/search?${new URLSearchParams({ q: field.value.trim(), ...(params.chat && { chat: params.chat }) })}`;
    } }, field, h('button', null, t.search));
    const state = h('p', { class: 'hint', role: 'status' }, t.about);
    root.append(form, params.chat ? facts(t.inChat, chat(params.chat)) : '', state);
    if (!params.q) return field.focus();
    state.textContent = t.loading;
    const lines = await get('search', { q: params.q, key: params.chat, limit: most }, signal);
    state.textContent = lines.length < most ? t.found(lines.length) : t.found(lines.length) + t.most;
    root.append(...lines.map(hit));
  },
};
