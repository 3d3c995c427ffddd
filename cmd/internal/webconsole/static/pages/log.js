// The end of the audit log: what happened in which chat, run and request, never what was said.
import { every, h, num, text } from '../dom.js';
import { asked } from '../wire.js';
import { language, words } from '../text.js';
import { bar, chat, empty, label } from './parts.js';

const t = words({
  title: 'Log', none: 'Nothing was logged.', about: 'Each message, run, model call, tool, decision and delivery is noted here, but not what was said.', unmatched: 'No line matches.',
  filter: 'Chat, request, tool, result …', kind: 'Kind', all: 'all kinds', lines: 'Lines', last: (n) => `last ${num(n)} lines`, follow: 'Follow', step: 'step ', by: 'by ', request: 'Only this request',
  tokens: (l) => `${num(l.inputTokens)} tokens in (${num(l.cachedTokens)} cached), ${num(l.outputTokens)} out`,
  event: { ingress: 'message', egress: 'delivery', run: 'run', model: 'model', tool: 'tool', approval: 'approval', execution: 'execution', stop: 'stop', forget: 'deletion' },
}, {
  title: '日志', none: '没有日志。', about: '每条消息、运行、模型调用、工具、审批和投递都会记录在这里，但不包含聊天内容。', unmatched: '没有符合条件的记录。',
  filter: '聊天、请求、工具、结果……', kind: '类型', all: '全部类型', lines: '行数', last: (n) => `最近 ${num(n)} 行`, follow: '跟踪', step: '步骤 ', by: '操作者：', request: '只看这个请求',
  tokens: (l) => `输入 ${num(l.inputTokens)} token（缓存 ${num(l.cachedTokens)}），输出 ${num(l.outputTokens)}`,
  event: { ingress: '消息', egress: '投递', run: '运行', model: '模型', tool: '工具', approval: '审批', execution: '执行', stop: '停止', forget: '删除' },
});

const bad = /^(failed|error|denied|refused|expired|interrupted|declined|parked|dropped)/;
const clock = new Intl.DateTimeFormat(language, { dateStyle: 'short', timeStyle: 'medium' });

// gone is how many lines at the start of old the new ones no longer have.
function gone(old, lines) {
  let n = 0;
  while (n < old.length && !(old[n] === lines[0] && old.slice(n).every((l, i) => l === lines[i]))) n++;
  return n;
}

function row(l, only) {
  const dim = [l.step && t.step + l.step, l.tookMs && `${num(l.tookMs)} ms`, l.event === 'model' && t.tokens(l), l.by && t.by + l.by].filter(Boolean);
  return h('li', null, h('time', { datetime: l.ts }, clock.format(new Date(l.ts))), label('', t.event[l.event] ?? l.event), l.chatKey && chat(l.chatKey), l.name && h('code', null, l.name),
    l.result && h('strong', { class: bad.test(l.result) ? 'bad' : '' }, text(l.result)), l.reason && text(l.reason), dim.map((f) => h('span', { class: 'dim' }, text(f))),
    l.requestId && h('button', { class: 'plain', type: 'button', title: `${t.request}: ${l.requestId}`, onclick: () => only(l.requestId) }, l.requestId.slice(0, 8)));
}

export default {
  id: 'log', title: t.title, owner: true,
  async show(root, { params, signal }) {
    const select = (name, options) => h('select', { 'aria-label': name }, options.map(([value, shown]) => h('option', { value }, shown)));
    const filter = h('input', { type: 'search', class: 'grow', placeholder: t.filter, 'aria-label': t.filter, value: params.chat ?? params.key });
    const kind = select(t.kind, [['', t.all], ...Object.entries(t.event)]);
    const last = select(t.lines, [200, 1000].map((n) => [n, t.last(n)]));
    const follow = h('input', { type: 'checkbox', checked: true });
    const [none, unmatched] = [empty(t.none, t.about), h('p', { class: 'hint', hidden: true }, t.unmatched)];
    const place = h('ol', { class: 'log' });
    none.hidden = true;
    const head = bar(filter, kind, last, h('label', null, follow, ' ', t.follow));
    head.classList.add('sticky');
    root.append(head, none, unmatched, place);

    let shown = []; // the lines as JSON, and their elements, or null for those that the filter hides
    const els = [];
    const matches = (json, l) => (!kind.value || l.event === kind.value) && json.toLowerCase().includes(filter.value.trim().toLowerCase());
    const only = (id) => { filter.value = id; draw(shown, true); };

    // draw shows lines, and keeps the end in sight if it was. Those that are there already stay.
    function draw(lines, anew) {
      const atEnd = root.scrollHeight - root.scrollTop - root.clientHeight < 60;
      const n = anew ? shown.length : gone(shown, lines);
      for (const el of els.splice(0, n)) el?.remove();
      for (const json of lines.slice(els.length)) {
        const l = JSON.parse(json);
        els.push(matches(json, l) ? row(l, only) : null);
      }
      place.append(...els.filter((el) => el && !el.parentNode));
      shown = lines;
      none.hidden = lines.length > 0;
      unmatched.hidden = lines.length === 0 || place.childElementCount > 0;
      if (atEnd || anew) root.scrollTop = root.scrollHeight;
    }

    const load = async (anew) => draw(((await asked('log', { of: last.value }, signal)) ?? []).map((l) => JSON.stringify(l)), anew);
    for (const e of [filter, kind]) e.addEventListener('input', () => draw(shown, true));
    last.addEventListener('change', () => load(true));
    every(2000, signal, () => follow.checked && load(!shown.length));
  },
};
