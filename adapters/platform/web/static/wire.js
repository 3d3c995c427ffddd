// What the page says to the host, and hears from it.

// Problem is a refused request: a code of the host, or `network`.
export class Problem extends Error {
  constructor(code, message, status) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

const at = (id, rest = '') => `api/chat/${encodeURIComponent(id)}${rest}`;

async function ask(path, options = {}) {
  let res;
  try {
    res = await fetch(path, { credentials: 'same-origin', ...options, headers: { Accept: 'application/json', ...options.headers } });
  } catch (e) {
    throw new Problem('network', e.message, 0);
  }
  if (res.ok) return res;
  const body = await res.json().catch(() => ({}));
  throw new Problem(body.error ?? 'other', body.message ?? res.statusText, res.status);
}

export const info = async () => (await ask('api/info')).json();
export const chats = async (most) => (await ask(`api/chats?limit=${most}`)).json();
export const stop = (id) => ask(at(id, '/stop'), { method: 'POST' });

export const forget = (id) => ask(at(id), { method: 'DELETE' });
export const rename = (id, title) => ask(at(id, '/title'), {
  method: 'PUT', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ title }),
});

const earlier = new Map(); // the last that each chat was sent

// post hands a message over. It returns once the host has it for good. A slow network may not change the order of what
// one chat is sent.
export function post(id, body) {
  const taken = Promise.resolve(earlier.get(id)).then(() => ask('api/chat', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Prefer: 'respond-async' },
    body: JSON.stringify({ id, ...body }),
  }));
  earlier.set(id, taken.catch(() => {}));
  return taken;
}

// The host says something every ten seconds; who is silent for longer is gone,
// though no browser may have noticed.
const silence = 35_000;

// events yields everything that happens in a chat, beginning with its view. It
// returns when the host ends the stream and throws when the connection breaks.
export async function* events(id, signal) {
  const quiet = new AbortController();
  const left = () => quiet.abort();
  signal.addEventListener('abort', left, { once: true });
  let timer;
  const heard = () => {
    clearTimeout(timer);
    timer = setTimeout(left, silence);
  };
  heard();
  try {
    const res = await ask(at(id, '/events'), { signal: quiet.signal, cache: 'no-store' });
    const reader = res.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      heard();
      const lines = (rest + value).split('\n');
      rest = lines.pop();
      for (const line of lines) {
        if (line.startsWith('data: ')) yield JSON.parse(line.slice(6));
      }
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', left);
  }
}
