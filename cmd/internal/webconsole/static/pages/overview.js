// Whether the host works, and how busy it is.
import { ago, bytes, code, div, every, fill, get, h, h2, num, p, span, table, text, texts, when } from './parts.js';

const t = texts({
  title: ['Overview', '概览'], ready: ['Ready', '就绪'], notReady: ['Not ready', '未就绪'], dead: ['The actors do not answer. Only a restart helps.', '内部组件没有响应，只能重新启动。'],
  demo: ['Demo model', '演示模型'], restart: ['These settings have changed and take effect after a restart:', '以下设置已更改，重启后生效：'], platforms: ['Platforms', '平台'],
  models: ['Models', '模型'], work: ['Now', '当前'], started: ['Running since', '启动时间'], version: ['Version', '版本'], process: ['Process', '进程'], folder: ['Folder', '文件夹'],
  note: ['Note', '说明'], bot: ['Bot', '机器人'], can: ['Can', '能力'], works: ['works', '正常'], skipped: [(s) => `not asked for ${s} more seconds`, (s) => `${s} 秒内不会使用`],
  failedLast: ['failed the last time', '最近一次调用失败'], noTools: ['is called without tools', '不使用工具'], refused: ['refuses these efforts', '拒绝这些思考强度'],
  gauges: {
    sma_runs_in_flight: ['Runs', '运行中'], sma_model_calls_in_flight: ['Model calls', '模型调用'], sma_model_calls_waiting: ['Calls waiting', '等待的调用'],
    sma_outbox_pending: ['To be sent', '待发送'], sma_outbox_parked: ['Not sent, parked', '发送失败，已搁置'], sma_outbox_oldest_seconds: ['Oldest to be sent', '最早待发送'],
    sma_approvals_pending: ['Approvals', '待审批'], sma_chats_active: ['Chats in memory', '内存中的聊天'], sma_chats_parked: ['Chats that failed', '出错的聊天'],
    sma_chats_bytes_estimate: ['Chats use', '聊天占用'], process_resident_memory_bytes: ['Memory', '内存'],
  },
});

const leads = { sma_outbox_pending: 'outbox', sma_outbox_parked: 'outbox', sma_approvals_pending: 'approvals', sma_chats_active: 'chats' };
const troubles = new Set(['sma_outbox_parked', 'sma_chats_parked']);
const valueOf = (name, n) => (name.includes('bytes') ? bytes(n) : name.endsWith('seconds') ? `${num(Math.round(n))} s` : num(n));

function stateOf(s) {
  const ok = s.ready && s.alive;
  return p('bar', h('strong', { class: ok ? 'good' : 'bad' }, ok ? t.ready : t.notReady), s.demo && span('label warn', t.demo),
    s.notReady && text(s.notReady), !s.alive && span('bad', t.dead));
}

const fact = (name, value) => value && [h('dt', null, name), h('dd', null, text(value))];

function facts(s) {
  return h('dl', { class: 'facts' }, fact(t.started, `${when(s.started)} (${ago(s.started)})`), fact(t.version, s.version), fact(t.process, s.pid && String(s.pid)),
    fact(t.model, s.model), fact(t.folder, s.dir));
}

// gauges are updated where they stand, so that a link in them keeps the focus.
function gauges(to) {
  const values = new Map();
  const box = h('dl', { class: 'cards' }, Object.entries(t.gauges).map(([name, label]) => {
    const card = h('div', { class: 'card', hidden: true }, h('dt', null, to[name] ? h('a', { href: `#/${to[name]}` }, label) : label), h('dd'));
    values.set(name, card);
    return card;
  }));
  box.update = (now) => {
    for (const [name, card] of values) {
      card.hidden = !(name in now);
      card.classList.toggle('bad', troubles.has(name) && now[name] > 0);
      card.lastChild.textContent = valueOf(name, now[name]);
    }
  };
  return box;
}

const stateOfPlatform = (p) => span(`label ${!p.on ? '' : p.up ? 'good' : 'bad'}`, !p.on ? t.off : p.up ? t.up : t.down);

function platforms(list) {
  return table([
    { head: t.name, cell: (p) => p.name },
    { head: t.state, cell: stateOfPlatform },
    { head: t.bot, cell: (p) => (/^https?:/.test(p.link) ? h('a', { href: p.link, rel: 'noopener noreferrer', target: '_blank' }, text(p.bot || p.link)) : p.bot) },
    { head: t.note, cell: (p) => p.note },
    { head: t.can, cell: (p) => p.can?.join(', ') },
  ], list);
}

function health(m) {
  const out = [];
  if (m.skippedS) out.push(span('bad', t.skipped(m.skippedS)));
  else if (m.reason) out.push(span('warn', t.failedLast));
  if (m.reason) out.push(text(` (${m.reason})`));
  if (m.noTools) out.push(span('', ` ${t.noTools}`));
  if (m.refusedEfforts) out.push(text(` ${t.refused}: ${m.refusedEfforts}`));
  return out.length ? out : span('good', t.works);
}

const models = (list) => [h2(t.models), table([{ head: t.name, cell: (m) => m.name }, { head: t.state, cell: health }], list)];

export default {
  title: t.title, viewer: true,
  async show(root, { signal, me }) {
    const [top, below, cards] = [div(), div(), gauges(me.role === 'viewer' ? {} : leads)];
    root.append(top, h2(t.work), cards, below);
    let told = '';
    await every(2000, signal, async () => {
      const [s, now] = await Promise.all([get('status', {}, signal), get('gauges', {}, signal).catch((e) => { if (e.status === 503) return {}; throw e; })]);
      cards.update(now);
      const doc = JSON.stringify([s, ago(s.started)]);
      if (doc === told) return; // nothing moves that did not change
      told = doc;
      fill(top, stateOf(s), s.needsRestart?.length ? div('box warn', t.restart, h('ul', null, s.needsRestart.map((k) => h('li', null, code(k))))) : '', facts(s));
      fill(below, h2(t.platforms), platforms(s.platforms ?? []), s.models?.length ? models(s.models) : []);
    });
  },
};
