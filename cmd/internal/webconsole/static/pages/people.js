// Who may use the bots, and who asks to.
import { asked, bar, button, cards, code, confirm, every, h, h2, label, p, post, say, span, table, text, texts, unseen, when } from './parts.js';

const t = texts({
  title: ['People', '用户'],
  about: ['People who write to this bot appear here, and can be let in. Set it up in ship.json first.', '给这个机器人发消息的人会显示在这里，可以允许他们使用。请先在 ship.json 中设置它。'],
  nobody: [(bot) => `Nobody has access yet. sma pair --bot ${bot} prints the code that makes you the owner.`, (bot) => `还没有人可以使用。运行 sma pair --bot ${bot} 获取让你成为主人的配对码。`],
  role: { owner: ['owner', '主人'], person: ['may use the bot', '可以使用'], group: ['group', '群组'], asks: ['asks for access', '申请使用'], blocked: ['blocked', '已屏蔽'] },
  id: ['Id', '编号'], what: ['Access', '权限'], since: ['Since', '时间'], until: ['until ', '有效至 '], code: ['Code that the bot gave', '机器人给出的配对码'], let: ['They may use the bot now.', '对方现在可以使用机器人了。'], orders: ['Orders', '操作'],
  order: { approve: ['Let in', '允许'], block: ['Block', '屏蔽'], remove: ['Remove', '移除'] },
  sure: {
    block: [(who) => `Block \u2068${who}\u2069? They get no answer at all.`, (who) => `要屏蔽 \u2068${who}\u2069 吗？对方不会再收到任何回应。`],
    remove: [(who) => `Remove the access of \u2068${who}\u2069?`, (who) => `要移除 \u2068${who}\u2069 的权限吗？`],
  },
  done: {
    approve: [(who) => `\u2068${who}\u2069 may use the bot now.`, (who) => `\u2068${who}\u2069 现在可以使用机器人了。`], block: [(who) => `\u2068${who}\u2069 is blocked.`, (who) => `已屏蔽 \u2068${who}\u2069。`],
    remove: [(who) => `\u2068${who}\u2069 has no access any more.`, (who) => `\u2068${who}\u2069 已不能使用。`],
  },
});

// rows are all who have to do with a bot: those who ask first.
const rows = (a) => [
  ...(a.codes ?? []).filter((c) => c.for).map((c) => ({ is: 'asks', ...c.for, until: c.expires })),
  ...[a.owner].filter(Boolean).map((p) => ({ is: 'owner', ...p })),
  ...(a.people ?? []).map((p) => ({ is: 'person', ...p })),
  ...(a.groups ?? []).map((g) => ({ is: 'group', name: g.title, ...g })),
  ...(a.blocked ?? []).map((p) => ({ is: 'blocked', ...p })),
];

// may are the orders about somebody, by what they are.
const may = { asks: ['approve', 'block'], person: ['remove', 'block'], group: ['remove'], blocked: ['approve'] };

async function order(bot, what, r, again) {
  const who = r.name || r.id;
  if (what !== 'approve' && !await confirm(t.sure[what](who), t.order[what])) return;
  await post('people', { bot, do: what, id: r.id });
  say(t.done[what](who));
  await again();
}

function account(a, orders, again) {
  const field = h('input', { autocomplete: 'off', autocapitalize: 'characters', placeholder: t.code, 'aria-label': `${t.code}: ${a.bot}`, maxlength: 16 });
  const letIn = async () => {
    await post('people', { bot: a.bot, do: 'approve', code: field.value.trim() });
    say(t.let);
    await again();
  };
  const list = rows(a);
  return h('section', null, h2(text(a.bot), ' ', a.on ? null : label('', t.off)), list.length ? table([
    { head: t.name, cell: (r) => r.name || '–' },
    { head: t.id, cell: (r) => code(r.id) },
    { head: t.what, cell: (r) => label({ asks: 'warn', blocked: 'bad', owner: 'good' }[r.is] ?? '', t.role[r.is]) },
    { head: unseen(t.orders), cell: (r) => orders && bar((may[r.is] ?? []).map((what) => button(t.order[what], () => order(a.bot, what, r, again), what === 'approve' ? '' : 'danger'))) },
    { head: t.since, cell: (r) => span('num', r.until ? t.until + when(r.until) : when(r.at)) },
  ], list) : p('hint', a.on ? t.nobody(a.bot) : t.about), orders && (a.on || list.length > 0) && bar(field, button(t.order.approve, letIn)));
}

export default {
  title: t.title,
  async show(root, { signal, me }) {
    const draw = cards(root, p(), (a) => account(a, me.orders, load), (a) => a.bot);
    const load = async () => draw(await asked('people', {}, signal));
    every(5000, signal, load);
  },
};
