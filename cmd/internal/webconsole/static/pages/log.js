// The end of the audit log, which never has what was said.
import { asked, chat, code, div, empty, every, finder, h, keyed, label, language, num, select, span, text, texts } from './parts.js';

const t = texts({
  title: ['Log', '日志'], none: ['Nothing was logged.', '没有日志。'],
  about: ['Each message, run, model call, tool, decision and delivery is noted here, but not what was said.', '每条消息、运行、模型调用、工具、审批和投递都会记录在这里，但不包含聊天内容。'],
  unmatched: ['No line matches.', '没有符合条件的记录。'], filter: ['Chat, request, tool, result …', '聊天、请求、工具、结果……'], kind: ['Kind', '类型'],
  lines: ['Lines', '行数'], last: [(n) => `last ${num(n)} lines`, (n) => `最近 ${num(n)} 行`], follow: ['Follow', '跟踪'], step: ['step ', '步骤 '], by: ['by ', '操作者：'],
  request: ['Only this request', '只看这个请求'], tokens: [(i, c, o) => `${i} tokens in (${c} cached), ${o} out`, (i, c, o) => `输入 ${i} token（缓存 ${c}），输出 ${o}`],
  event: {
    ingress: ['message', '消息'], egress: ['delivery', '投递'], run: ['run', '运行'], model: ['model', '模型'], tool: ['tool', '工具'], approval: ['approval', '审批'],
    execution: ['execution', '执行'], stop: ['stop', '停止'], forget: ['deletion', '删除'], order: ['order', '操作'],
  },
});

const bad = /^(failed|error|denied|refused|expired|interrupted|declined|parked|dropped)/;
const clock = new Intl.DateTimeFormat(language, { dateStyle: 'short', timeStyle: 'medium' });

// numbered gives each line a key. Lines may be equal.
function numbered(lines) {
  const seen = new Map();
  return lines.map((l) => {
    const json = JSON.stringify(l);
    seen.set(json, (seen.get(json) ?? 0) + 1);
    return { l, key: json + seen.get(json) };
  });
}

function row(l, only) {
  const dim = [l.step && t.step + l.step, l.tookMs && `${num(l.tookMs)} ms`, l.event === 'model' && t.tokens(...[l.inputTokens, l.cachedTokens, l.outputTokens].map(num)), l.by && t.by + l.by].filter(Boolean);
  return h('li', null, h('time', { datetime: l.ts }, clock.format(new Date(l.ts))), label('', t.event[l.event] ?? l.event), l.chatKey && chat(l.chatKey), l.name && code(l.name),
    l.result && h('strong', { class: bad.test(l.result) ? 'bad' : '' }, text(l.result)), l.reason && text(l.reason), dim.map((f) => span('dim', text(f))),
    l.requestId && h('button', { class: 'plain', type: 'button', title: `${t.request}: ${l.requestId}`, onclick: () => only(l.requestId) }, l.requestId.slice(0, 8)));
}

export default {
  title: t.title,
  async show(root, { params, signal }) {
    const filter = finder(t.filter, { value: params.chat ?? params.key });
    const kind = select(t.kind, [['', t.all], ...Object.entries(t.event)]);
    const last = select(t.lines, [200, 1000].map((n) => [n, t.last(n)]));
    const follow = h('input', { type: 'checkbox', checked: true });
    const [none, unmatched] = [empty(t.none, t.about), h('p', { class: 'hint', hidden: true }, t.unmatched)];
    const place = h('ol', { class: 'log' });
    none.hidden = true;
    root.append(div('bar sticky', filter, kind, last, h('label', null, follow, ' ', t.follow)), none, unmatched, place);

    let lines = [];
    const update = keyed(place, ({ l }) => row(l, only), (line) => line.key);
    const matches = ({ l, key }) => (!kind.value || l.event === kind.value) && key.toLowerCase().includes(filter.value.trim().toLowerCase());
    const only = (id) => { filter.value = id; draw(true); };

    // draw shows the lines that match, and keeps the end in sight if it was.
    function draw(anew) {
      const atEnd = root.scrollHeight - root.scrollTop - root.clientHeight < 60;
      update(lines.filter(matches));
      none.hidden = lines.length > 0;
      unmatched.hidden = lines.length === 0 || place.childElementCount > 0;
      if (atEnd || anew) root.scrollTop = root.scrollHeight;
    }

    async function load(anew) {
      lines = numbered(await asked('log', { of: last.value }, signal) ?? []);
      draw(anew);
    }
    for (const e of [filter, kind]) e.addEventListener('input', () => draw(true));
    last.addEventListener('change', () => load(true));
    every(2000, signal, () => follow.checked && load(lines.length === 0));
  },
};
