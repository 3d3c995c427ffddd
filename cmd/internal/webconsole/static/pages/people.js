// Who may use the bots, and who asks to.
import { asked, bar, button, cards, confirm, every, h, label, post, say, table, text, texts, unseen, when } from './parts.js';

const t = texts({
  title: ['People', '用户'],
  about: ['People who write to this bot appear here, and can be let in. Set it up in ship.json first.', '给这个机器人发消息的人会显示在这里，可以允许他们使用。请先在 ship.json 中设置它。'],
  nobody: [(bot) => `Nobody has access yet. sma pair --bot ${bot} prints the code that makes you the owner.`, (bot) => `还没有人可以使用。运行 sma pair --bot ${bot} 获取让你成为主人的配对码。`],
  role: { owner: ['owner', '主人'], person: ['may use the bot', '可以使用'], group: ['group', '群组'], asks: ['asks for access', '申请使用'], blocked: ['blocked', '已屏蔽'] },
  id: ['Id', '编号'], what: ['Access', '权限'], since: ['Since', '时间'], until: ['until ', '有效至 '], code: ['Code that the bot gave', '机器人给出的配对码'], letIn: ['Let in', '允许'],
  let: ['They may use the bot now.', '对方现在可以使用机器人了。'], sure: [(who) => `Remove the access of \u2068${who}\u2069?`, (who) => `要移除 \u2068${who}\u2069 的权限吗？`],
  removed: [(who) => `\u2068${who}\u2069 has no access any more.`, (who) => `\u2068${who}\u2069 已不能使用。`],
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
  if (!await confirm(t.sure(who), t.remove)) return;
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
  return h('section', null, h('h2', null, text(a.bot), ' ', a.on ? null : label('', t.off)), list.length ? table([
    { head: t.name, cell: (r) => r.name || '–' },
    { head: t.id, cell: (r) => h('code', null, r.id) },
    { head: t.what, cell: (r) => label({ asks: 'warn', blocked: 'bad', owner: 'good' }[r.is] ?? '', t.role[r.is]) },
    { head: unseen(t.remove), cell: (r) => (orders && (r.is === 'person' || r.is === 'group') ? button(t.remove, () => remove(a.bot, r, again), 'danger') : null) },
    { head: t.since, cell: (r) => h('span', { class: 'num' }, r.until ? t.until + when(r.until) : when(r.at)) },
  ], list) : h('p', { class: 'hint' }, a.on ? t.nobody(a.bot) : t.about), orders && (a.on || list.length > 0) && bar(code, button(t.letIn, letIn)));
}

export default {
  id: 'people', title: t.title, owner: true,
  async show(root, { signal, me }) {
    const draw = cards(root, h('p'), (a) => account(a, me.orders, load), (a) => a.bot);
    const load = async () => draw(await asked('people', {}, signal));
    every(5000, signal, load);
  },
};
