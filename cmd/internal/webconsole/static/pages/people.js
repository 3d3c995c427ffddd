// Who may use the bots, and who asks to.
import { confirm, every, h, say, table, text, when } from '../dom.js';
import { asked, post } from '../wire.js';
import { t as shared, words } from '../text.js';
import { button, empty, keyed, label } from './parts.js';

const t = words({
  title: 'People', none: 'There are no bots of Telegram or Feishu.', about: 'People who write to a bot there appear here: its owner, those who were let in, groups, and those who still ask. Set up a bot in ship.json first.',
  nobody: 'Nobody has access yet. sma pair prints the code that makes you the owner of this bot.', role: { owner: 'owner', person: 'may use the bot', group: 'group', asks: 'asks for access', blocked: 'blocked' },
  id: 'Id', what: 'Access', since: 'Since', code: 'Code', letIn: 'Let in', sure: (who) => `Remove the access of \u2068${who}\u2069?`, removed: (who) => `\u2068${who}\u2069 has no access any more.`,
  let: (who) => `\u2068${who}\u2069 may use the bot now.`, codeOf: (bot) => `Code that a person got from ${bot}`, expires: 'until ',
}, {
  title: '用户', none: '没有 Telegram 或飞书机器人。', about: '给机器人发消息的人会显示在这里：主人、已获准的用户、群组，以及还在申请的人。请先在 ship.json 中设置机器人。',
  nobody: '还没有人可以使用。运行 sma pair 会显示让你成为主人的配对码。', role: { owner: '主人', person: '可以使用', group: '群组', asks: '申请使用', blocked: '已屏蔽' },
  id: '编号', what: '权限', since: '时间', code: '配对码', letIn: '允许', sure: (who) => `要移除 \u2068${who}\u2069 的权限吗？`, removed: (who) => `\u2068${who}\u2069 已不能使用。`,
  let: (who) => `\u2068${who}\u2069 现在可以使用机器人了。`, codeOf: (bot) => `用户从 ${bot} 得到的配对码`, expires: '有效至 ',
});

// rows are all who have to do with a bot: those who ask first.
const rows = (a) => [
  ...(a.codes ?? []).filter((c) => c.for).map((c) => ({ is: 'asks', ...c.for, until: c.expires })),
  ...(a.owner ? [{ is: 'owner', ...a.owner }] : []),
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
  const columns = [
    { head: shared.name, cell: (r) => text(r.name || '–') },
    { head: t.id, cell: (r) => h('code', null, r.id) },
    { head: t.what, cell: (r) => label({ asks: 'warn', blocked: 'bad', owner: 'good' }[r.is] ?? '', t.role[r.is]) },
    { head: t.since, cell: (r) => (r.until ? [t.expires, when(r.until)] : when(r.at)) },
  ];
  if (orders) columns.push({ head: '', cell: (r) => (r.is === 'person' || r.is === 'group' ? button(shared.remove, () => remove(a.bot, r, again), 'danger') : '') });
  const list = rows(a);
  const code = h('input', { type: 'text', autocomplete: 'off', autocapitalize: 'characters', placeholder: t.code, 'aria-label': t.codeOf(a.bot), maxlength: 16 });
  const letIn = button(t.letIn, async () => {
    const who = await post('people', { bot: a.bot, do: 'approve', code: code.value.trim() });
    say(t.let(who?.name || who?.id || code.value.trim()));
    code.value = '';
    await again();
  });
  return h('section', null, h('h2', null, text(a.bot), ' ', a.on === false ? label('', shared.off) : null), list.length ? table(columns, list) : h('p', { class: 'hint' }, t.nobody),
    orders ? h('div', { class: 'bar' }, code, letIn) : null);
}

export default {
  id: 'people', title: t.title, owner: true,
  async show(root, { signal, me }) {
    const draw = keyed(root, empty(t.none, t.about), (a) => account(a, me.orders, load), (a) => a.bot);
    const load = async () => draw(await asked('people', {}, signal));
    every(5000, signal, load);
  },
};
