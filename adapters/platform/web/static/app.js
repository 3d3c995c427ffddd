// The chat page: one reader follows the chat that is shown, and what people
// write goes to the host at once, also while it answers.
import { apply, fresh } from './reduce.js';
import { copy } from './copy.js';
import { label, t } from './text.js';
import { Row, button, el, named } from './view.js';
import * as wire from './wire.js';
import { ask } from './ask.js';
import { drop, remember, remembered } from './store.js';
import { Uploads, takeFrom } from './upload.js';

const $ = (id) => document.getElementById(id);
const state = { id: '', title: '', rows: new Map(), running: false, edit: '', reader: null, lastRun: '', info: {}, chats: [], most: 50, decided: new Map(), shown: '' };
// A keyboard on the screen covers half of it, and has no other key for a new line.
const touch = matchMedia('(hover: none) and (pointer: coarse)');

// Frames tell of a turn only once an answer begins. Other tabs are told when it was sent.
const tabs = new BroadcastChannel('sma');

// Files go to the chat that is shown when they are added; another chat begins without.
const uploads = new Uploads($('files'), () => state.id, () => { if (!uploads.waiting() && !uploads.failed()) link(''); });

// ---- rows ----

const act = { decide, decided: (id) => state.decided.get(id) };

function put(message) {
  const old = state.rows.get(message.id);
  if (old) {
    old.message = message;
    old.draw();
    return old;
  }
  const row = new Row(message, act);
  state.rows.set(message.id, row);
  $('messages').append(row.element);
  $('empty').hidden = true;
  return row;
}

function clear() {
  state.rows.clear();
  $('messages').replaceChildren();
  state.running = false;
  state.lastRun = '';
  state.shown = '';
}

const nearEnd = () => $('log').scrollHeight - $('log').scrollTop - $('log').clientHeight < 120;
const toEnd = () => { $('log').scrollTop = $('log').scrollHeight; };

// What is added below the list, and a keyboard that opens, take room: the end stays in sight.
function watchEnd() {
  let atEnd = true;
  let height = 0; // a list that changed its height scrolls by itself, which nobody meant
  $('log').addEventListener('scroll', () => { if ($('log').clientHeight === height) atEnd = nearEnd(); });
  new ResizeObserver(() => {
    height = $('log').clientHeight;
    if (atEnd) toEnd();
  }).observe($('log'));
}

// keepEnd runs a change and follows the end of the list, unless people scrolled up.
function keepEnd(change) {
  const follow = nearEnd();
  change();
  if (follow) toEnd();
}

function running(is, end = t.ready) {
  if (is !== state.running) $('state').textContent = is ? t.answering : end;
  state.running = is;
  if (!is && document.activeElement === $('stop')) $('input').focus(); // what is hidden has no focus
  $('stop').hidden = !is;
  $('log').setAttribute('aria-busy', String(is));
  $('messages').classList.toggle('running', is);
  offers();
}

// offers puts the buttons on the messages that can be edited or answered again.
function offers() {
  const rows = [...state.rows.values()];
  const last = rows.findLast((r) => r.local !== 'command');
  for (const row of rows) {
    const m = row.message;
    const list = [];
    if (m.role === 'assistant' && row.text()) list.push([t.copy, (e) => copy(row.text(), e.currentTarget)]);
    if (!state.running && m.role === 'assistant' && row === last && !row.local && m.metadata?.kind !== 'summary') list.push([t.regenerate, () => again(m.id)]);
    if (!state.running && m.role === 'user' && !row.local) list.push([t.edit, () => beginEdit(row)]);
    row.offer(list);
  }
  $('rename').hidden = $('forget').hidden = rows.length === 0;
}

// ---- what the host tells ----

const kinds = {
  view(v) {
    // A connection that was made anew tells what is shown already: then nothing moves.
    const told = JSON.stringify([v.messages, v.waiting]);
    if (told === state.shown) return running(v.running || v.waiting.length > 0);
    const top = $('log').scrollTop;
    const back = focused();
    const mine = [...state.rows.values()].filter((r) => r.local === 'failed' || r.local === 'sending' || r.local === 'command')
      .map((row) => ({ row, ids: before(row.element) }));
    clear();
    for (const m of v.messages) put(m);
    for (const m of v.messages) fates(m);
    for (const m of v.waiting) {
      const row = put(m);
      row.status(t.waiting);
      row.element.classList.add('waiting');
    }
    for (const { row, ids } of mine) {
      if (state.rows.has(row.message.id)) continue;
      const place = state.rows.get(ids.find((id) => state.rows.has(id)));
      state.rows.set(row.message.id, row);
      if (row.local !== 'command') $('messages').append(row.element); // it is on its way
      else if (place) place.element.after(row.element);
      else $('messages').prepend(row.element);
    }
    $('empty').hidden = state.rows.size > 0;
    running(v.running || v.waiting.length > 0);
    $('log').scrollTop = top; // who reads further up goes on there
    back();
    state.shown = told;
  },
  start(f) {
    if (!f.replay && f.sees?.some(answeredBefore)) return follow(state.id);
    const goesOn = f.runId && f.runId === state.lastRun && f.sees?.length > 0 && !f.replay;
    state.lastRun = f.runId ?? '';
    for (const turn of f.turns ?? []) if (!state.rows.has(turn.id)) put(turn);
    for (const id of f.sees ?? []) {
      const row = state.rows.get(id);
      if (!row) continue;
      row.local = '';
      row.element.classList.remove('waiting');
      row.status(goesOn ? t.merged : '');
      if (!f.replay) $('messages').append(row.element); // history order is the order the model saw
    }
    // What its requests are about is known from before, where a decision lets a message go on.
    const { approvals } = state.rows.get(f.messageId)?.message.metadata ?? {};
    const row = put({ ...fresh(f.messageId), metadata: { demo: state.info.demo, ts: Date.now(), approvals } });
    if (!f.replay) $('messages').append(row.element);
    row.element.classList.add('live');
    row.status(goesOn ? t.goesOn : '');
    running(true);
    chunks(row, f.chunks);
  },
  chunks(f) {
    chunks(state.rows.get(f.messageId), f.chunks);
  },
  end(f) {
    const row = state.rows.get(f.messageId);
    if (row) {
      row.element.classList.remove('live');
      for (const p of row.message.parts) {
        if (p.state === 'streaming') p.state = 'done';
      }
      row.draw();
      if (f.last) row.status(t.resultOf[f.result] ?? '');
      // What a request is about, and who decided it, is kept with the message that asks.
      if (f.last && (f.result === 'waiting' || row.message.parts.some((p) => p.approval))) setTimeout(() => { if (!state.running) follow(state.id); }, 300);
    }
    settle(f.settled);
    if (f.last) {
      running(waits(), t.resultOf[f.result]);
      refreshChats();
    }
  },
  settled(f) {
    settle(f.settled);
    for (const id of f.settled ?? []) {
      const row = state.rows.get(id);
      if (row && row.local !== 'command') row.status(t.resultOf.stopped);
    }
    if (!document.querySelector('.live') && !waits()) running(false);
  },
  event(f) {
    if (f.event.name === 'compaction') $('messages').append(el('li', 'line', t.compaction));
    // A request that expired, or was decided elsewhere and late, changes its message only.
    if (f.event.name === 'approval') setTimeout(() => { if (!state.running) follow(state.id); }, 300);
  },
};

// focused remembers which button of a message has the focus, and returns what gives it
// back when the messages were drawn anew: to the same button of the same request.
function focused() {
  const had = document.activeElement;
  const id = had.closest('#messages > li')?.dataset.id;
  const request = had.closest('[data-request]')?.dataset.request;
  if (!id) return () => {};
  return () => {
    const row = state.rows.get(id)?.element;
    const within = request === undefined ? row : [...row?.querySelectorAll('[data-request]') ?? []].find((e) => e.dataset.request === request);
    const same = [...within?.querySelectorAll(had.localName) ?? []].find((e) => e.textContent === had.textContent);
    if (same) same.focus({ preventScroll: true });
    else if (!touch.matches) $('input').focus({ preventScroll: true });
  };
}

// answeredBefore tells that a turn is answered once more: somebody has cut the history
// there, and perhaps changed its words, in another window.
function answeredBefore(id) {
  const rows = [...state.rows.values()].filter((r) => r.local !== 'command');
  const at = rows.findIndex((r) => r.message.id === id);
  return at >= 0 && rows.slice(at + 1).some((r) => r.message.role === 'assistant' && !r.element.classList.contains('live')
    && rows[at].element.compareDocumentPosition(r.element) & Node.DOCUMENT_POSITION_FOLLOWING);
}

// waits tells that the host has a turn that no answer has begun for. Of one that is on its way it is not known yet.
const waits = () => [...state.rows.values()].some((r) => r.local !== 'sending' && r.element.classList.contains('waiting'));

function settle(ids) {
  for (const id of ids ?? []) state.rows.get(id)?.element.classList.remove('waiting');
}

function chunks(row, list) {
  if (!row) return;
  for (const c of list ?? []) {
    const part = apply(row.message, c);
    if (part) row.part(part);
    else if (c.messageMetadata) row.draw();
  }
}

// fates marks the turns that joined an answer in progress.
function fates(m) {
  for (const f of m.metadata?.fates ?? []) {
    if (f.fate === 'merged') state.rows.get(f.id)?.status(f.step ? t.mergedAt(f.step) : t.merged);
  }
  const result = m.metadata?.result;
  if (result === 'waiting' && !m.parts.some((p) => p.state === 'approval-requested')) return;
  if (t.resultOf[result]) state.rows.get(m.id)?.status(t.resultOf[result]);
}

// ---- the reader ----

const wait = (ms, signal) => new Promise((resolve) => {
  const timer = setTimeout(resolve, ms);
  for (const [target, name] of [[signal, 'abort'], [window, 'online'], [window, 'taken']]) {
    target.addEventListener(name, () => { clearTimeout(timer); resolve(); }, { once: true });
  }
});

// follow reads the chat until another one is shown: it comes back by itself when
// the connection breaks, and takes its time when a chat at rest was put away.
async function follow(id) {
  state.reader?.abort();
  const reader = new AbortController();
  state.reader = reader;
  for (let tries = 0; !reader.signal.aborted;) {
    let pause = 20_000;
    try {
      for await (const event of wire.events(id, reader.signal)) {
        if (reader.signal.aborted) return;
        tries = 0;
        link('');
        if (event.kind !== 'view') state.shown = '';
        keepEnd(() => kinds[event.kind]?.(event));
      }
      if (state.running) pause = 200;
    } catch (e) {
      if (reader.signal.aborted) return;
      if (e.status === 401) return location.reload();
      pause = Math.min(15_000, 500 * 2 ** tries++);
      if (tries > 1) link(t.offline);
    }
    await wait(pause, reader.signal);
  }
}

function link(text) {
  $('link').textContent = text;
  $('link').hidden = !text;
}

// ---- what people do ----

async function say(text, files = []) {
  const id = crypto.randomUUID?.() ?? `m-${Date.now()}-${Math.random().toString(36).slice(2)}`;
  const row = put({ id, role: 'user', parts: [...files, ...(text ? [{ type: 'text', text }] : [])], metadata: { ts: Date.now() } });
  toEnd();
  if (!state.title) {
    state.title = (text || files[0]?.filename || '').slice(0, 60);
    remember(state.id, state.title);
    drawChats();
  }
  await send(row);
}

async function send(row) {
  const chat = state.id;
  row.local = 'sending';
  row.status(t.sending);
  row.element.classList.add('waiting');
  try {
    const { answer } = await (await wire.post(chat, { trigger: 'submit-message', message: plain(row.message) })).json();
    window.dispatchEvent(new Event('taken')); // a reader that pauses reads on
    tabs.postMessage(chat);
    if (state.rows.get(row.message.id) !== row) return; // it was drawn anew, or another chat is shown
    if (answer) return answered(row, answer);
    if (row.local !== 'sending') return; // the answer was faster
    row.local = 'waiting';
    row.status(state.running ? t.waiting : '');
    running(true);
  } catch (e) {
    row.local = 'failed';
    row.element.classList.remove('waiting');
    row.status(`${t.failed}: ${wording(e)}`, () => send(row));
  }
}

// answered shows what the host says to a command. Neither is in the history.
function answered(row, answer) {
  row.local = 'command';
  row.element.classList.remove('waiting');
  row.status('');
  keepEnd(() => { put({ id: `h:${row.message.id}`, role: 'assistant', parts: [{ type: 'text', text: answer }], metadata: { ts: Date.now() } }).local = 'command'; });
  offers();
  if (/^\/(new|load|approve|deny)\b/i.test(row.text())) follow(state.id); // the history is another one now
}

const plain = (m) => ({ id: m.id, role: m.role, parts: m.parts.filter((p) => p.type === 'text' || p.type === 'file') });
// wording is why the host refuses something. Of a message that a chat does not take, only the host knows the reason.
const wording = (e) => (e.code === 'declined' ? e.message : t.problem[e.code] ?? `${t.problem.other}: ${e.message}`);

// cutAndAsk has the turn of a row answered once more. The host cuts the history before it takes the turn. If it is lost
// in between, only this page still has the turn, which stays here to be sent again.
async function cutAndAsk(row, body, retry = body) {
  const id = state.id;
  const resent = row.local === 'failed'; // now, because the answer may come before the response
  try {
    await wire.post(id, body);
    if (id !== state.id) return true;
    if (resent && state.edit === row.message.id) {
      $('input').value = '';
      endEdit();
      grow();
    }
    row.local = '';
    row.status('');
    follow(id);
    return true;
  } catch (e) {
    link(wording(e));
    if (id !== state.id || e.status > 0 && e.status < 500) return false;
    row.local = 'failed';
    row.status(`${t.failed}: ${wording(e)}`, () => cutAndAsk(row, retry));
    offers();
    return false;
  }
}

// before lists the messages in front of an element, the nearest first.
function before(element) {
  const ids = [];
  for (let e = element; (e = e.previousElementSibling);) ids.push(e.dataset.id);
  return ids;
}

// inFront is the nearest row of the history in front of another one, perhaps of one role.
const inFront = (row, role) => before(row.element).map((id) => state.rows.get(id))
  .find((one) => one && !one.local && (!role || one.message.role === role));

// place tells the host where a turn was: behind which message, of which only the id counts.
const place = (row) => [inFront(row)].filter(Boolean).map((one) => ({ id: one.message.id, role: 'assistant', parts: [] }));

function again(messageId) {
  const trigger = 'regenerate-message';
  const answer = state.rows.get(messageId);
  const turn = inFront(answer, 'user');
  return cutAndAsk(turn ?? answer, { trigger, messageId, messages: [] },
    turn ? { trigger, messageId: turn.message.id, messages: [...place(turn), plain(turn.message)] } : undefined);
}

// decide answers a request for approval. The host knows it by its id; nothing
// else of the message counts.
async function decide(row, part, approved) {
  const id = part.approval.id;
  state.decided.set(id, approved);
  row.draw();
  if (document.activeElement === document.body) $('input').focus({ preventScroll: true }); // the button is gone
  const call = { type: 'dynamic-tool', toolName: part.toolName ?? part.type.replace(/^tool-/, ''), toolCallId: part.toolCallId, input: part.input ?? {} };
  const message = { id: row.message.id, role: 'assistant', parts: [{ ...call, state: 'approval-responded', approval: { id, approved } }] };
  let refused;
  try {
    const { decisions } = await (await wire.post(state.id, { trigger: 'submit-message', message })).json();
    if (decisions?.[0]?.is === 'done') return;
    refused = t.decisionOf[decisions?.[0]?.is] ?? t.problem.other;
    follow(state.id);
  } catch (e) {
    refused = `${t.failed}: ${wording(e)}`;
  }
  state.decided.delete(id);
  row.draw();
  row.status(refused);
}

function beginEdit(row) {
  state.edit = row.message.id;
  $('input').value = row.text();
  $('mode').hidden = false;
  $('mode').firstElementChild.textContent = t.editing;
  $('input').focus();
  grow();
}

function endEdit() {
  state.edit = '';
  $('mode').hidden = true;
}

function submit() {
  const text = $('input').value.trim();
  if (uploads.waiting()) return link(t.filesWait);
  if (uploads.failed()) return link(t.filesFailed);
  if (!text && (state.edit || !uploads.items.length)) return;
  const edit = state.edit;
  $('input').value = '';
  endEdit();
  grow();
  if (edit) replace(edit, text);
  else say(text, uploads.take());
}

// replace sends an edited message. What the host does not take is there to be sent again.
async function replace(id, text) {
  const chat = state.id;
  const edited = state.rows.get(id);
  if (!edited) return say(text); // another window has cut the history
  const files = edited.message.parts.filter((p) => p.type === 'file'); // they stay
  const message = { id, role: 'user', parts: [...files, { type: 'text', text }] };
  const taken = await cutAndAsk(edited, { trigger: 'submit-message', messageId: id, messages: [...place(edited), message] });
  const row = state.rows.get(id);
  if (taken || chat !== state.id || !row || $('input').value) return;
  beginEdit(row);
  $('input').value = text;
  grow();
}

// hints lists the commands that the input may become.
function hints() {
  const word = $('input').value.match(/^\/(\w*)$/)?.[1];
  const list = word === undefined ? [] : (state.info.commands ?? []).filter((c) => c.name.startsWith(word.toLowerCase()));
  $('commands').hidden = !list.length;
  $('commands').replaceChildren(...list.map((c) => el('div', '', `/${c.name}: ${c.help}`)));
}

function grow() {
  const box = $('input');
  hints();
  box.style.height = 'auto';
  box.style.height = `${Math.min(box.scrollHeight, 220)}px`;
}

// ---- chats ----

function route() {
  try {
    return decodeURIComponent(location.hash.match(/^#\/c\/(.+)$/)?.[1] ?? '');
  } catch {
    return ''; // somebody's typing error: a new chat
  }
}

function open(id) {
  if (!id) {
    id = crypto.randomUUID?.() ?? `c${Date.now()}`;
    history.replaceState(null, '', `#/c/${id}`);
  }
  if (id === state.id) return menu(false);
  state.id = id;
  uploads.clear();
  clear();
  endEdit();
  running(false);
  $('empty').hidden = false;
  state.title = state.chats.find((c) => c.id === id)?.title ?? remembered().find((c) => c.id === id)?.title ?? '';
  drawChats();
  menu(false);
  follow(id);
  if (!touch.matches) $('input').focus();
}

async function refreshChats() {
  const { most } = state;
  try {
    const chats = await wire.chats(most);
    if (most !== state.most) return; // more are on their way
    state.chats = chats;
  } catch {
    return; // the list of before is good enough
  }
  drawChats();
}

const hashOf = (id) => `#/c/${encodeURIComponent(id)}`;

function drawChats() {
  const seen = new Set();
  const word = $('filter').value.trim().toLowerCase();
  const list = [...state.chats, ...remembered()].filter((c) => !seen.has(c.id) && seen.add(c.id))
    .filter((c) => !word || (c.title || c.id).toLowerCase().includes(word));
  const had = $('chats').contains(document.activeElement) ? document.activeElement.hash : '';
  $('older').hidden = state.chats.length < state.most;
  $('chats').replaceChildren(...list.map((c) => {
    const title = el('span', 'title', c.title || c.id);
    title.dir = 'auto';
    const a = el('a', '', title);
    a.title = title.textContent;
    a.href = hashOf(c.id);
    if (c.id === state.id) a.setAttribute('aria-current', 'page');
    return el('li', '', a);
  }));
  if (had) [...$('chats').querySelectorAll('a')].find((a) => a.hash === had)?.focus({ preventScroll: true });
}

// older lists more chats. The focus goes to the first of them, because its button may be gone.
async function older() {
  const had = state.chats.length;
  state.most += 50;
  await refreshChats();
  const first = state.chats[had];
  if (first) [...$('chats').querySelectorAll('a')].find((a) => a.hash === hashOf(first.id))?.focus();
}

const titleOf = (id) => state.chats.find((c) => c.id === id)?.title ?? state.title;

// renameChat and forgetChat ask first.
async function renameChat() {
  const { id } = state;
  const title = await ask(t.renameAsk, t.renameYes, titleOf(id));
  if (title === false) return;
  try {
    await wire.rename(id, title);
  } catch (e) {
    return link(wording(e));
  }
  if (title) remember(id, title);
  if (id === state.id) state.title = title;
  refreshChats();
}

async function forgetChat() {
  const { id } = state;
  if (!await ask(t.forgetAsk(named(titleOf(id))), t.forgetYes)) return;
  try {
    await wire.forget(id);
  } catch (e) {
    if (e.status !== 404) return link(wording(e)); // a chat that is not there is deleted
  }
  drop(id);
  state.chats = state.chats.filter((c) => c.id !== id);
  if (id === state.id) open('');
  $('state').textContent = t.forgotten;
  refreshChats();
}

function menu(shown) {
  if (shown === document.body.classList.contains('side')) return;
  document.body.classList.toggle('side', shown);
  $('menu').setAttribute('aria-expanded', String(shown));
  (shown ? $('new') : $('menu')).focus();
}

// ---- start ----

function describe(info) {
  state.info = info;
  if (info.project) {
    $('project').textContent = info.project;
    document.title = info.project;
  }
  $('model').textContent = info.model;
  $('model').hidden = !info.model || info.demo;
  $('demo').textContent = t.demo;
  $('demo').title = t.demoHint;
  $('demo').hidden = $('demoHint').hidden = !info.demo;
  $('logout').hidden = !info.login;
  $('chips').replaceChildren(...info.suggestions.map((s) => button('chip', s, () => say(s))));
}

function wireUp() {
  tabs.onmessage = ({ data }) => { if (data === state.id) follow(data); };
  $('composer').addEventListener('submit', (e) => { e.preventDefault(); submit(); });
  $('input').addEventListener('input', grow);
  $('input').addEventListener('keydown', (e) => {
    if (e.key === 'Enter' && !e.shiftKey && !e.isComposing && e.keyCode !== 229 && !touch.matches) {
      e.preventDefault();
      submit();
    } else if (e.key === 'Escape' && state.edit) {
      $('input').value = '';
      endEdit();
    }
  });
  takeFrom(uploads, { pick: $('pick'), open: $('attach'), input: $('input') });
  $('unedit').addEventListener('click', () => { $('input').value = ''; endEdit(); grow(); $('input').focus(); });
  $('stop').addEventListener('click', () => wire.stop(state.id).catch((e) => link(wording(e))));
  $('rename').addEventListener('click', renameChat);
  $('forget').addEventListener('click', forgetChat);
  $('new').addEventListener('click', () => { location.hash = `#/c/${crypto.randomUUID?.() ?? `c${Date.now()}`}`; });
  $('menu').addEventListener('click', () => menu(!document.body.classList.contains('side')));
  document.addEventListener('click', (e) => { // anywhere else, and on the chat that is shown already
    if (!$('menu').contains(e.target) && (!$('side').contains(e.target) || e.target.closest('[aria-current]'))) menu(false);
  });
  $('filter').addEventListener('input', drawChats);
  $('older').addEventListener('click', older);
  window.addEventListener('hashchange', () => open(route()));
  document.addEventListener('keydown', (e) => {
    if (e.key === 'Escape') menu(false);
  });
}

label(document);
wireUp();
watchEnd();
wire.info().then(describe).catch((e) => (e.status === 401 ? location.reload() : link(wording(e))));
open(route());
refreshChats();
