// What the agent does by itself at set times.
import { ago, asked, bar, box, button, cards, chat, code, confirm, div, empty, every, exact, facts, fill, h, h2, label, post, say, span, text, texts, trouble, when } from './parts.js';

const t = texts({
  title: ['Tasks', '任务'], none: ['There are no tasks.', '没有任务。'],
  about: ['A task makes the agent do something at set times. Ask the agent in a chat (“remind me every Monday at nine”), or run sma tasks add.', '任务让助手在设定的时间自动做事。可以在聊天中告诉助手（例如“每周一九点提醒我”），也可以运行 sma tasks add。'],
  status: { active: ['active', '已启用'], done: ['done', '已完成'] }, next: ['Next', '下次'], last: ['Last', '上次'], hand: ['only by hand', '仅手动'],
  zone: [(zone) => `, in ${zone}`, (zone) => `（时区 ${zone}）`], once: ['once, ', '一次：'], text: ['What it does', '任务内容'], run: ['Run now', '立即运行'],
  sure: [(title) => `Run “\u2068${title}\u2069” now? What it has to say goes to its chat.`, (title) => `要立即运行“\u2068${title}\u2069”吗？它的内容会发到对应的聊天。`],
  started: ['The task has started.', '任务已开始。'], openChat: ['the chat it ran in', '运行所在的聊天'],
  fate: {
    started: ['started', '已开始'], skipped: ['skipped', '已跳过'], waits: ['waits', '等待中'], ended: ['ended', '已结束'], settled: ['ended', '已结束'], done: ['done', '已完成'],
    failed: ['failed', '失败'],
  },
});

const own = Intl.DateTimeFormat().resolvedOptions().timeZone;

// last is the last time of a task and its result, with the reason as the host wrote it.
function last({ planned, result, chatKey }) {
  const [is, ...why] = result.split(': ');
  return [h('dt', null, t.last), h('dd', null, `${when(planned)} `, span(/failed|skipped|interrupted/.test(is) ? 'bad' : '', t.fate[is] ?? is), why.length ? text(`: ${why.join(': ')}`) : null,
    chatKey ? [' ', chat(chatKey, t.openChat)] : null)];
}

async function run(task, again) {
  if (!await confirm(t.sure(task.title), t.run)) return;
  await post(`tasks?id=${encodeURIComponent(task.taskId)}`, {});
  say(t.started);
  await again();
}

function card(task, orders, again) {
  const next = h('dd');
  const body = task.say || task.instructions;
  const el = box(
    h2(text(task.title || task.taskId), ' ', label(task.status === 'active' ? 'good' : '', t.status[task.status] ?? t[task.status] ?? task.status)),
    facts(task.cron ? [code(task.cron), task.timezone !== own && t.zone(task.timezone)] : task.when && [t.once, when(task.when)], task.chatKey && chat(task.chatKey, task.name), code(task.path)),
    h('dl', { class: 'facts' }, h('dt', null, t.next), next, task.last ? last(task.last) : null),
    body ? h('details', null, h('summary', null, t.text), exact(body, t.text)) : null,
    orders ? bar(button(t.run, () => run(task, again))) : null);
  el.fresh = () => fill(next, task.next.length ? task.next.map((at, i) => div('', when(at), !i && ` (${ago(at)})`)) : [task.status === 'active' ? t.hand : '–']);
  return el;
}

export default {
  title: t.title,
  async show(root, { signal, me }) {
    const bad = div();
    root.append(bad);
    const draw = cards(root, empty(t.none, t.about), (task) => card(task, me.orders, load), (task) => task.taskId);
    const load = async () => {
      const { tasks, problems } = await asked('tasks', {}, signal);
      fill(bad, trouble(problems));
      draw(tasks);
    };
    every(10_000, signal, load);
  },
};
