// What the agent does by itself at set times.
import { ago, confirm, every, h, say, text, when } from '../dom.js';
import { asked, post } from '../wire.js';
import { words } from '../text.js';
import { button, chat, empty, exact, facts, keyed, label, trouble } from './parts.js';

const t = words({
  title: 'Tasks', none: 'There are no tasks.',
  about: 'A task makes the agent do something at set times. Ask the agent in a chat (“remind me every Monday at nine”), or run sma tasks add.',
  status: { active: 'active', paused: 'paused', done: 'done' }, next: 'Next', last: 'Last', hand: 'only by hand', zone: (zone) => `, in ${zone}`, once: 'once, ',
  run: 'Run now', sure: (title) => `Run “\u2068${title}\u2069” now? What it has to say goes to its chat.`, started: 'The task has started.', text: 'What it does', says: 'It says',
  fate: { seen: 'noticed', started: 'started', skipped: 'skipped', waits: 'waits', ended: 'ended', settled: 'ended', done: 'done', failed: 'failed' }, openChat: 'the chat it ran in', read: 'cannot be read',
}, {
  title: '任务', none: '没有任务。',
  about: '任务让助手在设定的时间自动做事。可以在聊天中告诉助手（例如“每周一九点提醒我”），也可以运行 sma tasks add。',
  status: { active: '运行中', paused: '已暂停', done: '已完成' }, next: '下次', last: '上次', hand: '仅手动', zone: (zone) => `（时区 ${zone}）`, once: '一次，',
  run: '立即运行', sure: (title) => `要立即运行“\u2068${title}\u2069”吗？它的内容会发到对应的聊天。`, started: '任务已开始。', text: '任务内容', says: '发送的话',
  fate: { seen: '已发现', started: '已开始', skipped: '已跳过', waits: '等待中', ended: '已结束', settled: '已结束', done: '已完成', failed: '失败' }, openChat: '运行所在的聊天', read: '无法读取',
});

const own = Intl.DateTimeFormat().resolvedOptions().timeZone;

// fate is what became of the last time, with the reason as the host wrote it.
function fate(result) {
  const [is, ...why] = result.split(': ');
  return [h('span', { class: /failed|skipped|interrupted/.test(is) ? 'bad' : '' }, t.fate[is] ?? is), why.length ? text(`: ${why.join(': ')}`) : null];
}

async function run(task) {
  if (!await confirm(t.sure(task.title), t.run)) return;
  await post(`tasks?id=${encodeURIComponent(task.taskId)}`, {});
  say(t.started);
}

function card(task, orders, again) {
  const next = h('dd');
  const body = task.say || task.instructions;
  const el = h('article', { class: 'box' },
    h('h2', null, text(task.title || task.taskId), ' ', label(task.status === 'active' ? 'good' : '', t.status[task.status] ?? task.status)),
    facts(task.cron ? [h('code', null, task.cron), task.timezone === own ? null : t.zone(task.timezone)] : task.when && [t.once, when(task.when)], task.chatKey && chat(task.chatKey, task.name), h('code', null, task.path)),
    h('dl', { class: 'facts' }, h('dt', null, t.next), next,
      task.last ? [h('dt', null, t.last), h('dd', null, when(task.last.planned), ' ', fate(task.last.result), task.last.chatKey ? [' ', h('a', { href: `#/chat/${encodeURIComponent(task.last.chatKey)}` }, t.openChat)] : null)] : null),
    body ? h('details', null, h('summary', null, task.say ? t.says : t.text), exact(body, t.text)) : null,
    orders ? h('div', { class: 'bar' }, button(t.run, async () => { await run(task); await again(); })) : null);
  el.fresh = () => next.replaceChildren(...(task.next.length ? task.next.map((at, i) => h('div', null, when(at), i ? null : [' (', ago(at), ')'])) : [t.hand]));
  return el;
}

export default {
  id: 'tasks', title: t.title, owner: true,
  async show(root, { signal, me }) {
    const bad = h('div');
    root.append(bad);
    const draw = keyed(root, empty(t.none, t.about), (task) => card(task, me.orders, load), (task) => task.taskId);
    const load = async () => {
      const { tasks, problems } = await asked('tasks', {}, signal);
      bad.replaceChildren(...trouble(problems));
      draw(tasks);
    };
    every(10_000, signal, load);
  },
};
