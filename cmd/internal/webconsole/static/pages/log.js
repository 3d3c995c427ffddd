// The end of the audit log: what happened in which chat, run and request, never what was said.
import { every, h, num, text, when } from '../dom.js';
import { asked } from '../wire.js';
import { words } from '../text.js';
import { chat, empty, label } from './parts.js';

const t = words({
  title: 'Log', none: 'Nothing was logged.', about: 'Each message, run, model call, tool, decision and delivery is noted here, without what was said. Its lines appear as soon as something happens in a chat.',
  unmatched: 'No line matches the filter.', filter: 'Chat, request, tool, result …', kind: 'Kind', all: 'all kinds', lines: 'Lines', last: (n) => `last ${num(n)} lines`, follow: 'Follow',
  event: { ingress: 'message', egress: 'delivery', run: 'run', model: 'model', tool: 'tool', approval: 'approval', execution: 'execution', stop: 'stop', forget: 'deletion' },
  step: 'step ', by: 'by ', tokens: (l) => `${num(l.inputTokens)} tokens in (${num(l.cachedTokens)} cached), ${num(l.outputTokens)} out`, request: 'Only this request',
}, {
  title: '日志', none: '没有日志。', about: '每条消息、运行、模型调用、工具、审批和投递都会记录在这里，但不包含聊天内容。聊天中一有动静，这里就会出现新的记录。',
  unmatched: '没有符合筛选条件的记录。', filter: '聊天、请求、工具、结果……', kind: '类型', all: '全部类型', lines: '行数', last: (n) => `最近 ${num(n)} 行`, follow: '跟踪',
  event: { ingress: '消息', egress: '投递', run: '运行', model: '模型', tool: '工具', approval: '审批', execution: '执行', stop: '停止', forget: '删除' },
  step: '步骤 ', by: '操作者：', tokens: (l) => `输入 ${num(l.inputTokens)} token（缓存 ${num(l.cachedTokens)}），输出 ${num(l.outputTokens)}`, request: '只看这个请求',
});

const bad = /^(failed|error|denied|refused|expired|interrupted|declined|parked|dropped)/;

// shift is how many lines at the start of old are not in the new ones any more, or old.length if they share none.
function shift(old, lines) {
  let s = 0;
  while (s < old.length && !(old[s] === lines[0] && old.slice(s).every((l, i) => l === lines[i]))) s++;
  return s;
}

export default {
  id: 'log', title: t.title, owner: true,
  async show(root, { params, signal }) {
    const filter = h('input', { type: 'search', class: 'grow', placeholder: t.filter, 'aria-label': t.filter, value: params.chat || params.key || '' });
    const option = (value, name) => h('option', { value }, name);
    const kind = h('select', { 'aria-label': t.kind }, option('', t.all), Object.entries(t.event).map(([value, name]) => option(value, name)));
    const last = h('select', { 'aria-label': t.lines }, [200, 1000, 5000].map((n) => option(n, t.last(n))));
    const follow = h('input', { type: 'checkbox', checked: true });
    const none = empty(t.none, t.about);
    const unmatched = h('p', { class: 'hint', hidden: true }, t.unmatched);
    const place = h('ol', { class: 'log', role: 'log', 'aria-live': 'off', 'aria-label': t.title });
    none.hidden = true;
    root.append(h('div', { class: 'bar' }, filter, kind, last, h('label', null, follow, ' ', t.follow)), none, unmatched, place);

    let shown = []; // the lines as JSON, and their elements or null where the filter hides them
    let els = [];
    const matches = (json, l) => (!kind.value || l.event === kind.value) && json.toLowerCase().includes(filter.value.trim().toLowerCase());
    const only = (id) => { filter.value = id; draw(shown, true); };

    function row(l) {
      const took = l.tookMs > 0 && `${num(l.tookMs)} ms`;
      return h('li', null, h('time', { datetime: l.ts }, when(l.ts)), label('', t.event[l.event] ?? l.event), l.chatKey ? chat(l.chatKey) : null,
        l.name ? h('code', null, l.name) : null, l.result ? h('strong', { class: bad.test(l.result) ? 'bad' : '' }, text(l.result)) : null, l.reason ? text(l.reason) : null,
        [l.step && t.step + l.step, took, l.event === 'model' && t.tokens(l), l.by && [t.by, text(l.by)]].filter(Boolean).map((f) => h('span', { class: 'dim' }, f)),
        l.requestId ? h('button', { class: 'plain', type: 'button', title: t.request, onclick: () => only(l.requestId) }, l.requestId) : null);
    }

    // draw shows lines, and keeps the end in sight if it was. Those that are shown already stay.
    function draw(lines, anew) {
      const atEnd = root.scrollHeight - root.scrollTop - root.clientHeight < 60;
      const gone = anew ? shown.length : shift(shown, lines);
      for (const el of els.splice(0, gone)) el?.remove();
      for (const json of lines.slice(shown.length - gone)) {
        const l = JSON.parse(json);
        els.push(matches(json, l) ? row(l) : null);
      }
      place.append(...els.filter((el) => el && !el.parentNode));
      shown = lines;
      none.hidden = lines.length > 0;
      unmatched.hidden = lines.length === 0 || place.childElementCount > 0;
      if (follow.checked && (atEnd || anew)) root.scrollTop = root.scrollHeight;
    }

    const load = async (anew) => draw(((await asked('log', { of: last.value }, signal)) ?? []).map((l) => JSON.stringify(l)), anew);
    for (const e of [filter, kind]) e.addEventListener('input', () => draw(shown, true));
    last.addEventListener('change', () => load(true));
    let first = true;
    every(2000, signal, async () => {
      if (follow.checked) await load(first);
      first = false;
    });
  },
};
