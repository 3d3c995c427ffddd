// What scenarios need: a chat as a page has it, the host, and the test that runs both.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const { HOST_URL, CONTROL_URL, PROJECT_DIR, SDK = 'ai' } = process.env;

/** The SDK under test: ai is 6.0.326, ai-7 is 7.0.173. */
export const sdk = await import(SDK);

let limit;

/** Fails if a scenario waits for one thing for longer than a minute. */
function watch(what, fail) {
  clearTimeout(limit);
  limit = setTimeout(() => fail(new Error(`timeout while waiting for ${what}`)), 60_000);
}

/** Ends the process, since nothing of the scenario would hear of the error. */
function giveUp(error) {
  console.error(error.message);
  process.exit(1);
}
watch('the scenario to begin', giveUp);

/** Waits for a promise, for at most a minute. */
export function settled(what, promise) {
  const late = new Promise((_, reject) => watch(what, reject));
  return Promise.race([promise, late]).finally(() => watch(`what comes after ${what}`, giveUp));
}

class State {
  #messages;
  #status = 'ready';
  #error;
  #changed;

  constructor(messages, changed) {
    this.#messages = messages;
    this.#changed = changed;
  }
  get messages() { return this.#messages; }
  set messages(list) { this.#messages = list; this.#changed(); }
  get status() { return this.#status; }
  set status(status) { this.#status = status; this.#changed(); }
  get error() { return this.#error; }
  set error(error) { this.#error = error; this.#changed(); }
  pushMessage = message => { this.messages = [...this.#messages, message]; };
  popMessage = () => { this.messages = this.#messages.slice(0, -1); };
  replaceMessage = (index, message) => { this.messages = this.#messages.map((old, i) => (i === index ? this.snapshot(message) : old)); };
  snapshot = thing => structuredClone(thing);
}

/** A chat as one open page has it, with all that it ever showed. */
export class Chat extends sdk.AbstractChat {
  statuses = ['ready'];
  shown = []; // texts of the last assistant message, each once
  errors = [];
  finishes = [];
  #waiters = new Set();

  constructor({ id, messages = [], fetch = globalThis.fetch, ...more }) {
    const state = new State(messages, () => this.#changed());
    super({
      id, state,
      transport: new sdk.DefaultChatTransport({ api: `${HOST_URL}/api/chat`, fetch }),
      onError: error => this.errors.push(error),
      onFinish: finish => this.finishes.push(finish),
      ...more,
    });
  }

  #changed() {
    if (this.status !== this.statuses.at(-1)) this.statuses.push(this.status);
    const text = this.answer;
    if (text && text !== this.shown.at(-1)) this.shown.push(text);
    for (const look of [...this.#waiters]) look();
  }

  /** The text of the last message, if it is the assistant's. */
  get answer() {
    return this.lastMessage?.role === 'assistant' ? textOf(this.lastMessage) : '';
  }

  /** Resumes, and resolves once the message under way is here: to what waits for its end. */
  async resume() {
    const end = this.resumeStream();
    await this.until('the stream to be resumed', chat => chat.status === 'streaming');
    return { end };
  }

  /** Resolves once the condition holds. */
  until(what, holds) {
    return settled(`${what}; now ${this.status}: ${JSON.stringify(this.answer)}`, new Promise(resolve => {
      const look = () => {
        if (!holds(this)) return;
        this.#waiters.delete(look);
        resolve();
      };
      this.#waiters.add(look);
      look();
    }));
  }

  /**
   * Resolves once the last answer is this text, or so much of it that it is more
   * than before: a host may hold the newest pieces back for a moment.
   */
  untilText(text, before = '') {
    return this.until(`the text ${JSON.stringify(text)}`, ({ answer }) =>
      answer.startsWith(before) && answer.length > before.length && text.startsWith(answer));
  }
}

/** A page that is loaded now: with the host's history, then with what is under way. */
export async function open(id, more = {}) {
  const response = await fetch(`${HOST_URL}/api/chat/${id}`);
  return new Chat({ id, messages: response.ok ? await response.json() : [], ...more });
}

export const textOf = message =>
  message.parts.filter(part => part.type === 'text').map(part => part.text).join('');

/** A chat in short: u:words and a:words. */
export const outline = messages => messages.map(message => `${message.role[0]}:${textOf(message)}`);

/** What makes a page send decisions by itself. */
export const decides = { sendAutomaticallyWhen: sdk.lastAssistantMessageIsCompleteWithApprovalResponses };

/** The calls of a message. */
export const callsOf = message => message.parts.filter(sdk.isToolUIPart);

/** Has the demo model ask; returns its open request. */
export async function asked(chat) {
  await chat.sendMessage({ text: 'ask first' });
  const [call, ...others] = callsOf(chat.lastMessage);
  assert.deepEqual(others, []);
  assert.equal(call.type, 'tool-remember_note');
  assert.equal(call.state, 'approval-requested');
  assert.equal(chat.status, 'ready');
  return JSON.parse(JSON.stringify(call));
}

/** Decides, and resolves once the page has shown what came of it. */
export async function decided(chat, call, approved, reason) {
  const outcome = approved ? 'output-available' : 'output-denied';
  const { id } = chat.messages.find(message => callsOf(message).some(c => c.toolCallId === call.toolCallId));
  await chat.addToolApprovalResponse({ id: call.approval.id, approved, reason });
  await chat.until(`the call to be ${outcome}`, c => {
    const message = c.messages.find(m => m.id === id);
    return c.status === 'error' || c.status === 'ready' && callsOf(message)[0].state === outcome;
  });
  assert.deepEqual(chat.errors, []);
}

/** How many notes the tool has written. */
export async function notes() {
  const text = await readFile(join(PROJECT_DIR, 'notes.md'), 'utf8').catch(() => '');
  return text.split('\n').filter(Boolean).length;
}

/** The host's history of a chat. */
export async function history(id) {
  const response = await fetch(`${HOST_URL}/api/chat/${id}`);
  assert.equal(response.status, 200, 'GET history');
  return await response.json();
}

/** Asks the host; fails on another status than wanted. */
export async function ask(method, path, wanted = 200, body) {
  const response = await fetch(HOST_URL + path, {
    method, body: body && JSON.stringify(body), headers: body && { 'content-type': 'application/json' },
  });
  assert.equal(response.status, wanted, `${method} ${path}: ${response.status}`);
  return await response.text();
}

/**
 * What of a message a client and a host both have: metadata is the host's. An
 * input that a tool could not take is rawInput for 6.x and input for 7.x.
 */
const common = messages => JSON.parse(JSON.stringify(messages.map(({ id, role, parts }) => ({ id, role, parts: parts.map(refused) }))));

const refused = part => part.type === 'file' ? { ...part, url: undefined, providerMetadata: undefined } // the host keeps the file, not its data URL
  : part.state !== 'output-error' || SDK === 'ai' ? part
  : { ...part, input: undefined, rawInput: part.rawInput ?? part.input };

/**
 * The page shows what the host keeps, and nothing is under way. A busy host may notice that a page stopped reading only
 * after the page has resumed; then it offers the complete message to one more reader.
 */
export async function sameAsHost(chat) {
  assert.deepEqual(common(chat.messages), common(await history(chat.id)), 'the page and the host differ');
  const offered = await fetch(`${HOST_URL}/api/chat/${chat.id}/stream`);
  if (offered.status === 204) return;
  await offered.text(); // all of it, or this reader would be offered it as well
  await ask('GET', `/api/chat/${chat.id}/stream`, 204);
}

/** Asks the test that runs this. */
export async function control(path) {
  const response = await settled(`the test: ${path}`, fetch(CONTROL_URL + path, { method: 'POST' }));
  const text = await response.text();
  assert.equal(response.status, 200, `${path}: ${text}`);
  return text;
}

/** The scripted model is at a gate: `reached` waits for that, `pass` lets it on. */
export const reached = gate => control(`/reached/${gate}`);
export const pass = gate => control(`/pass/${gate}`);

/**
 * A history is one that the SDK reads, changes nothing in, and can convert. The
 * title of a tool is in the SDK's own streams and messages, but its validation
 * knows it of no part and leaves it out.
 */
export async function valid(messages) {
  const result = await sdk.safeValidateUIMessages({ messages });
  assert.ok(result.success, result.error?.message);
  assert.deepEqual(untitled(result.data), untitled(messages), 'validation changed the history');
  await sdk.convertToModelMessages(messages);
}

const untitled = messages => JSON.parse(JSON.stringify(messages), function (key, value) {
  return key === 'title' && 'toolCallId' in this ? undefined : value;
});

/** Ids are in use once, texts are only added to. */
export function grew(chat) {
  for (const [i, text] of chat.shown.entries()) {
    assert.ok(i === 0 || text.startsWith(chat.shown[i - 1]), `text went back: ${JSON.stringify(chat.shown)}`);
  }
  const ids = chat.messages.map(message => message.id);
  assert.equal(new Set(ids).size, ids.length, `an id is used twice: ${ids}`);
}

export { assert };
