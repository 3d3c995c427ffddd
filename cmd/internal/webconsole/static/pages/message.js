// One message of a history as it is stored: text as text, tools and thoughts folded, and its JSON on demand.
import { asked, button, code, div, fill, h, label, num, p, span, text, texts, visible, when, words } from './parts.js';

const t = texts({
  role: { user: ['User', '用户'], assistant: ['Assistant', '助手'] }, step: [(n) => `Step ${n}`, (n) => `第 ${n} 步`], reasoning: ['Reasoning', '思考'],
  input: ['Input', '输入'], output: ['Result', '结果'], raw: 'JSON', more: [(n) => `Show all ${n} characters`, (n) => `显示全部 ${n} 个字符`],
  summary: [(n) => `Summary of ${n} earlier messages`, (n) => `${n} 条较早消息的摘要`], from: ['from ', '从 '], to: [' to ', ' 到 '],
  gap: ['Messages that could not be read', '无法读取的消息'], originals: ['Show the originals', '显示原始消息'], aged: ['Large results were archived', '较大的结果已归档'],
  back: ['Go back to before this', '回到这条之前'], task: ['task', '任务'], contact: ['from another chat', '来自其他聊天'], file: ['File', '文件'], source: ['Source', '来源'],
  prompt: ['prompt', '输入'], cached: ['from the cache', '来自缓存'], out: ['output', '输出'], thought: ['reasoning', '思考'], notice: ['Notice', '提示'], by: [' by ', '，由 '],
  reason: ['reason: ', '原因：'], answer: { approved: ['approved', '已批准'], denied: ['denied', '已拒绝'], expired: ['expired', '已失效'], withdrawn: ['withdrawn', '已撤回'] },
  atStep: [(n) => ` at step ${n}`, (n) => `（第 ${n} 步）`],
  state: {
    'input-streaming': ['preparing', '准备中'], 'input-available': ['running', '运行中'], 'approval-requested': ['waits for approval', '等待审批'],
    'approval-responded': ['decided', '已决定'], 'output-available': ['done', '完成'], 'output-error': ['failed', '失败'], 'output-denied': ['denied', '已拒绝'],
  },
});

// What became of a message, and how a run ended.
export const fateOf = words({
  answered: ['answered', '已回答'], merged: ['joined', '已并入'], ignored: ['ignored', '已忽略'], declined: ['declined', '已拒收'], stopped: ['stopped', '已停止'],
});
export const resultOf = words({
  done: ['done', '完成'], waiting: ['waits for a decision', '等待决定'], stopped: ['stopped', '已停止'], failed: ['failed', '失败'], interrupted: ['interrupted', '已中断'],
  switching: ['goes on in another context', '在其他上下文中继续'],
});

const json = (value) => visible(typeof value === 'string' ? value : JSON.stringify(value, null, 2));

// folded draws what it hides when it is opened for the first time.
export function folded(summary, draw, kind) {
  const box = h('details', { class: kind }, h('summary', null, summary));
  box.addEventListener('toggle', () => { if (box.open && box.children.length === 1) box.append(div('', draw())); });
  return box;
}

const most = 4000;

// long shows the beginning of a long text, and the rest on demand.
function long(words, tag, kind) {
  const body = h(tag, { class: kind, tabindex: tag === 'pre' ? 0 : null }, text(words.slice(0, most)));
  if (words.length <= most) return body;
  const rest = button(t.more(num(words.length)), () => {
    fill(body, text(words));
    body.tabIndex = -1;
    body.focus({ preventScroll: true });
    rest.remove();
  }, 'plain');
  return [body, rest];
}

const named = (name, value) => value !== undefined && [h('h3', null, name), long(json(value), 'pre')];

const link = (url) => (/^https?:\/\//.test(url) ? h('a', { href: url, rel: 'noopener noreferrer nofollow', target: '_blank' }, text(url)) : text(url.slice(0, 200)));

function tool(p, m) {
  const name = p.toolName ?? p.type.replace(/^tool-/, '');
  const request = m.metadata?.approvals?.requests?.find((r) => r.id === p.approval?.id);
  const kind = p.state === 'output-error' ? 'bad' : /approval|denied/.test(p.state) ? 'warn' : '';
  const decided = request?.answer && [' ', t.answer[request.answer] ?? text(request.answer), request.byName && [t.by, text(request.byName)], request.reason && [' ', t.reason, text(request.reason)]];
  return folded([code(text(name)), ' ', p.title && [text(p.title), ' '], label(kind, t.state[p.state] ?? text(p.state)), request && ` #${request.n}`, decided],
    () => [named(t.input, p.input ?? p.rawInput), request?.exact && named(request.what || '#', request.exact), named(t.output, p.output ?? p.errorText)]);
}

// part shows one part. Which step it belongs to is counted by the caller.
function part(p, m, step) {
  const kind = p.type ?? '';
  if (kind === 'text') return p.text ? long(p.text, 'div', 'words') : null;
  if (kind === 'step-start') return step > 1 ? div('step', t.step(step)) : null;
  if (kind === 'reasoning') return p.text ? folded(t.reasoning, () => long(p.text, 'div', 'words dim')) : null;
  if (kind === 'dynamic-tool' || kind.startsWith('tool-')) return tool(p, m);
  if (kind === 'file') return h('p', null, t.file, ' ', text(p.filename || ''), ' ', span('dim', text(p.mediaType)), ' ', p.url?.startsWith('data:') ? null : link(p.url ?? ''));
  if (kind === 'source-url') return h('p', null, t.source, ' ', text(p.title ?? ''), ' ', link(p.url ?? ''));
  return folded(code(text(kind)), () => long(json(p), 'pre'));
}

function parts(m) {
  let step = 0;
  return (m.parts ?? []).map((p) => part(p, m, p.type === 'step-start' ? ++step : step));
}

// tokens is a bar of what a run used. `largest` is the longest bar of the chat.
function tokens({ inputTokens = 0, cachedInputTokens = 0, outputTokens = 0, reasoningTokens = 0 } = {}, largest) {
  const sum = inputTokens + outputTokens;
  if (!sum) return null;
  const said = [`${num(inputTokens)} ${t.prompt}`, cachedInputTokens && `${num(cachedInputTokens)} ${t.cached}`, `${num(outputTokens)} ${t.out}`, reasoningTokens && `${num(reasoningTokens)} ${t.thought}`].filter(Boolean);
  const bit = (kind, n) => {
    const e = span(kind);
    e.style.width = `${100 * n / Math.max(sum, largest)}%`;
    return e;
  };
  return div('small dim', h('div', { class: 'tokens', 'aria-hidden': true }, bit('cached', cachedInputTokens), bit('fresh', Math.max(0, inputTokens - cachedInputTokens)), bit('output', outputTokens)), said.join(' · '));
}

export const tokensOf = (m) => (m.metadata?.usage?.inputTokens ?? 0) + (m.metadata?.usage?.outputTokens ?? 0);

function fates(list) {
  const more = (list ?? []).filter((f) => f.fate !== 'answered');
  return more.length ? p('small dim', more.map((f, i) => [i ? ' · ' : '', fateOf[f.fate] ?? text(f.fate), ' ', text(f.id), f.step ? t.atStep(f.step) : ''])) : null;
}

// later draws what is asked for once it is there.
export function later(promise, draw) {
  const place = div('', t.loading);
  promise.then((doc) => fill(place, draw(doc)), (e) => fill(place, text(e.message)));
  return place;
}

// archived opens an archive: what a summary folded or people went back from, or a message with its large results.
export const archived = (name, id, o) => typeof id === 'string' && o.key && folded(name, () => later(asked('archives', { of: `${o.key}\n${id}` }, o.signal),
  (doc) => doc.messages.map((m) => message(m, { ...o, back: null }))));

// message makes the element. o has the chat's key, the largest usage, and what the button does: back(m).
export function message(m, o) {
  const meta = m.metadata ?? {};
  const summary = meta.kind === 'summary';
  const kind = ['msg', m.role, meta.kind === 'gap' ? 'gap' : summary ? 'summary' : ''].join(' ');
  const range = meta.sourceRange;
  const result = meta.result !== 'done' && (resultOf[meta.result] ?? meta.result);
  const box = h('article', { class: kind },
    p('', h('strong', null, summary ? t.summary(num(range?.count ?? 0)) : meta.kind === 'gap' ? t.gap : t.role[m.role] ?? text(m.role)),
      (meta.username || meta.userId) && text(meta.username || meta.userId), m.role === 'assistant' && meta.model && text(meta.model),
      meta.ts && h('time', { datetime: new Date(meta.ts).toISOString() }, when(meta.ts)),
      t[meta.source] && label('', t[meta.source]), result && label(meta.result === 'waiting' ? 'warn' : 'bad', text(result)), meta.reason && text(meta.reason),
      o.back && button(t.back, () => o.back(m), 'plain')),
    summary && range && p('small dim', t.from, text(range.fromId), t.to, text(range.toId)),
    parts(m), meta.notice && p('warn', t.notice, ': ', text(json(meta.notice))),
    fates(meta.fates), tokens(meta.usage, o.largest ?? 0),
    summary && archived(t.originals, meta.archive, o), archived(t.aged, meta.aged, o),
    folded(t.raw, () => long(json(m), 'pre'), 'small dim'));
  box.dataset.id = m.id;
  return box;
}
