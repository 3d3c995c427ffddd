// The page search: words in the messages of all chats, also in those that were archived.
import { h, num, text, time } from '../dom.js';
import { t as shared, words } from '../text.js';
import { get } from '../wire.js';
import { folded, message } from './message.js';
import { chat, facts } from './parts.js';

const t = words({
  title: 'Search', words: 'Words', about: 'Searches the messages of all chats, also archived ones. Every word must be in the message.', inChat: 'Only in the chat', open: 'Show it in the chat',
  archived: 'archived', found: (n) => (n === 1 ? '1 message' : `${num(n)} messages`), most: 'There may be more: only the best are shown.',
}, {
  title: '搜索', words: '词语', about: '搜索所有聊天中的消息，包括已归档的。消息必须包含每个词。', inChat: '仅在聊天', open: '在聊天中显示',
  archived: '已归档', found: (n) => `${num(n)} 条消息`, most: '可能还有更多，只显示最相关的。',
});

const most = 50;

function hit(l) {
  return h('article', { class: 'box' },
    facts(chat(l.chatKey, l.name), time(l.at), /archive/.test(l.place) ? t.archived
      : h('a', { href: `#/chat/${encodeURIComponent(l.chatKey)}?${new URLSearchParams({ message: l.message.id })}` }, t.open)),
    h('p', { class: 'words' }, text(l.excerpt)), folded(shared.more, () => message(l.message, {}), 'small'));
}

export default {
  id: 'search', title: t.title, owner: true,
  async show(root, { params, signal }) {
    const field = h('input', { type: 'search', class: 'grow', 'aria-label': t.words, placeholder: t.words, value: params.q, autocomplete: 'off' });
    const form = h('form', { class: 'bar', role: 'search', onsubmit: (e) => {
      e.preventDefault();
      location.hash = `#/search?${new URLSearchParams({ q: field.value.trim(), ...(params.chat && { chat: params.chat }) })}`;
    } }, field, h('button', null, shared.search));
    const state = h('p', { class: 'hint', role: 'status' }, t.about);
    root.append(form, params.chat ? facts(t.inChat, chat(params.chat)) : '', state);
    if (!params.q) return field.focus();
    state.textContent = shared.loading;
    const lines = await get('search', { q: params.q, key: params.chat, limit: most }, signal);
    state.textContent = lines.length < most ? t.found(lines.length) : `${t.found(lines.length)}. ${t.most}`;
    root.append(...lines.map(hit));
  },
};
