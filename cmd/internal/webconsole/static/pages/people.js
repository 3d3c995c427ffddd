// Who may use the bots, and who asks to.
import { confirm, every, h, say, table, text, when } from '../dom.js';
import { asked, post } from '../wire.js';
import { t as shared, words } from '../text.js';
import { bar, button, cards, empty, label } from './parts.js';

const t = words({
  title: 'People', none: 'There are no bots yet.', about: 'People who write to a bot of Telegram or Feishu appear here. Set up a bot in ship.json first.', nobody: 'Nobody has access yet. sma pair prints the code that makes you the owner.',
  role: { owner: 'owner', person: 'may use the bot', group: 'group', asks: 'asks for access', blocked: 'blocked' }, id: 'Id', what: 'Access', since: 'Since', until: 'until ',
  code: 'Code that the bot gave', letIn: 'Let in', let: 'They may use the bot now.', sure: (who) => `Remove the access of \u2068${who}\u2069?`, removed: (who) => `\u2068${who}\u2069 has no access any more.`,
}, {
  title: '用户', none: '还没有机器人。', about: '给 Telegram 或飞书机器人发消息的人会显示在这里。请先在 ship.json 中设置机器人。', nobody: '还没有人可以使用。运行 sma pair 获取让你成为主人的配对码。',
  role: { owner: '主人', person: '可以使用', group: '群组', asks: '申请使用', blocked: '已屏蔽' }, id: '编号', what: '权限', since: '时间', until: '有效至 ',
  code: '机器人给出的配对码', letIn: '允许', let: '对方现在可以使用机器人了。', sure: (who) => `要移除 \u2068${who}\u2069 的权限吗？`, removed: (who) => `\u2068${who}\u2069 已不能使用。`,
});

// rows are all who have to do with a bot: those who ask first.
const rows = (a) => [
  ...(a.codes ?? []).filter((c) => c.for).map((c) => ({ is: 'asks', ...c.for, until: c.expires })),
  ...[a.owner].filter(Boolean).map((p) => ({ is: 'owner', ...p })),
  ...(a.people ?? []).map((p) => ({ is: 'person', ...p })),
  ...(a.groups ?? []).map((g) => ({ is: 'group', name: g.title, ...g })),
  ...(a.blocked ?? []).map((p) => ({ is: 'blocked', ...p })),
];

async function remove(bot, r, again) {
  const who = r.name || r.id;
  if (!await confirm(t.sure(who), shared.remove)) return;
  await post('people', { bot, do: 'remove', id: r.id });
  say(t.removed(who));
  await again();
}

function account(a, orders, again) {
  const code = h('input', { autocomplete: 'off', autocapitalize: 'characters', placeholder: t.code, 'aria-label': `${t.code}: ${a.bot}`, maxlength: 16 });
  const letIn = async () => {
    await post('people', { bot: a.bot, do: 'approve', code: code.value.trim() });
    say(t.let);
    await again();
  };
  const list = rows(a);
  return h('section', null, h('h2', null, text(a.bot), ' ', a.on === false ? label('', shared.off) : null), list.length ? table([
    { head: shared.name, cell: (r) => r.name || '–' },
    { head: t.id, cell: (r) => h('code', null, r.id) },
    { head: t.what, cell: (r) => label({ asks: 'warn', blocked: 'bad', owner: 'good' }[r.is] ?? '', t.role[r.is]) },
    { head: '', cell: (r) => (orders && (r.is === 'person' || r.is === 'group') ? button(shared.remove, () => remove(a.bot, r, again), 'danger') : null) },
    { head: t.since, cell: (r) => (r.until ? t.until + when(r.until) : when(r.at)) },
  ], list) : h('p', { class: 'hint' }, t.nobody), orders ? bar(code, button(t.letIn, letIn)) : null);
}

export default {
  id: 'people', title: t.title, owner: true,
  async show(root, { signal, me }) {
    const draw = cards(root, empty(t.none, t.about), (a) => account(a, me.orders, load), (a) => a.bot);
    const load = async () => draw(await asked('people', {}, signal));
    every(5000, signal, load);
  },
};
