// What the console asks the host, and hears from it. Paths are those below api/.
import { say } from './dom.js';
import { t } from './text.js';

// Problem is a refused request: the status of HTTP, or 0 if the host could not be reached.
export class Problem extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

function url(path, params = {}) {
  const query = new URLSearchParams(Object.entries(params).filter(([, v]) => (v ?? '') !== ''));
  return `api/${path}${query.size ? `?${query}` : ''}`;
}

async function ask(path, params, options = {}) {
  let res;
  try {
    res = await fetch(url(path, params), { cache: 'no-cache', ...options });
  } catch (e) {
    if (options.signal?.aborted) throw e;
    throw new Problem(0, e.message);
  }
  if (res.ok) return res;
  if (res.status === 401) location.reload(); // the login form is there
  const body = await res.json().catch(() => ({}));
  throw new Problem(res.status, body.message || body.error || res.statusText || `HTTP ${res.status}`);
}

export const get = async (path, params, signal) => (await ask(path, params, { signal })).json();

// post gives an order. If that takes long, the page says so until it has ended.
export async function post(path, body) {
  let timer = setTimeout(() => { timer = say(t.working, false, 6e5); }, 3000);
  try {
    return await (await ask(path, {}, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) })).json();
  } finally {
    if (timer) clearTimeout(timer);
    else say('');
  }
}

// asked is the value of an answer of ask/…, or throws its failure.
export async function asked(what, params, signal) {
  const answer = await get(`ask/${what}`, params, signal);
  if (answer.failure) throw new Problem(200, [answer.failure.what, answer.failure.help].filter(Boolean).join('. '));
  return answer.value;
}

// A host that is silent for longer is gone.
const silence = 35_000;

const pause = (ms, signal) => new Promise((resolve) => {
  const over = AbortSignal.any([signal, AbortSignal.timeout(ms)]);
  over.addEventListener('abort', resolve);
  window.addEventListener('online', resolve, { signal: over });
});

// follow hears events until the signal aborts. It connects again by itself: the event `watching` follows each
// connection, and `lost` each one that broke. It throws if the host refuses.
export async function follow(path, params, signal, onEvent) {
  for (let tries = 0; !signal.aborted; tries++) {
    try {
      for await (const event of events(path, params, signal)) {
        if (signal.aborted) return;
        if (event.kind !== 'watching') tries = 0;
        onEvent(event);
      }
    } catch (e) {
      if (signal.aborted) return;
      if (e.status >= 400 && e.status < 500 && e.status !== 429) throw e;
      onEvent({ kind: 'lost' });
    }
    await pause(Math.min(15_000, 500 * 2 ** tries), signal);
  }
}

async function* events(path, params, signal) {
  const quiet = new AbortController();
  let timer;
  const heard = () => {
    clearTimeout(timer);
    timer = setTimeout(() => quiet.abort(), silence);
  };
  heard();
  try {
    const res = await ask(path, params, { signal: AbortSignal.any([signal, quiet.signal]), headers: { Accept: 'text/event-stream' } });
    const reader = res.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      heard();
      const lines = (rest + value).split('\n');
      rest = lines.pop();
      for (const line of lines) {
        if (line.startsWith('data:')) yield JSON.parse(line.slice(5));
      }
    }
  } finally {
    clearTimeout(timer);
    quiet.abort();
  }
}
