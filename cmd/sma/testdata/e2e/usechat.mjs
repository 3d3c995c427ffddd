// A page that is an unmodified useChat and nothing else, in a browser, in front of the host.
import { createRequire } from 'node:module';
import { once } from 'node:events';
import http from 'node:http';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { openBrowser } from './browser.mjs';
import { assert } from './lib.mjs';

const { REACT_EXAMPLE, HOST_URL, PAGE_LANGUAGE = 'en', PICTURES } = process.env;
export const chinese = PAGE_LANGUAGE === 'zh';

const page = `
  import { createElement as el, useEffect } from 'react';
  import { createRoot } from 'react-dom/client';
  import { useChat } from '@ai-sdk/react';
  import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai';

  window.finishes = []; // what onFinish reported
  window.shown = []; // every state that people saw

  function Page({ id, messages }) {
    const chat = useChat({
      id, messages, transport: new DefaultChatTransport({ api: '/api/chat' }), resume: true,
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
      onFinish: ({ finishReason, isError, isAbort, isDisconnect }) => { window.finishes.push(isError ? 'failed' : isDisconnect ? 'disconnected' : isAbort ? 'aborted' : finishReason ?? 'no reason'); },
    });
    window.chat = chat;
    useEffect(() => {
      window.shown.push({ status: chat.status, error: chat.error?.message ?? '', last: document.querySelector('ol li:last-child')?.textContent ?? '' });
    });
    return el('main', null,
      el('ol', null, chat.messages.map(m => el('li', { key: m.id, className: m.role }, m.parts.map((part, i) =>
        part.type === 'text' ? el('span', { key: i }, part.text) : el('i', { key: i }, '[' + part.type + ']'))))),
      el('p', { id: 'status' }, chat.status),
      el('p', { id: 'error' }, chat.error?.message ?? ''));
  }

  const id = location.hash.slice(1);
  const stored = await fetch('/api/chat/' + id);
  createRoot(document.getElementById('root')).render(el(Page, { id, messages: stored.ok ? await stored.json() : [] }));
`;

/** Runs a scenario with a browser that shows pages of one host, then checks all streams that it was sent. */
export async function withPages(scenario) {
  const server = await servePage(REACT_EXAMPLE, HOST_URL);
  const browser = await openBrowser(chinese ? 'zh-CN,zh' : 'en-US,en');
  try {
    await scenario({ page: pageIn(browser, server.url), another: async () => pageIn(await browser.window(), server.url), server });
    everyFinishHasItsReason(server.streams);
  } finally {
    server.close();
    await browser.close();
  }
}

export const status = word => `document.getElementById('status')?.textContent === '${word}'`;
export const last = `document.querySelector('ol li:last-child').textContent`;
export const rows = `[...document.querySelectorAll('ol li')].map(li => li.textContent)`;
export const error = `document.getElementById('error').textContent`;

/** A window of the browser, and what people and their page do in it. */
function pageIn(window, url) {
  return {
    ...window,
    /** Loads the page of a chat, which resumes what is in progress. */
    async load(id, { state = 'ready', from = url } = {}) {
      await window.open('about:blank');
      await window.open(`${from}/#${id}`);
      await window.until(`window.chat?.id === ${JSON.stringify(id)} && ${status(state)}`);
    },
    /** Calls useChat, and resolves when the call does. */
    chat: (method, ...args) => window.evaluate(`chat.${method}(${args.map(a => JSON.stringify(a)).join()}), 0`),
    /** Sends a message, and resolves when its stream ends. */
    send: async message => {
      await window.evaluate(`chat.sendMessage(${JSON.stringify(typeof message === 'string' ? { text: message } : message)})`);
    },
    /** Calls useChat, and resolves once its stream has ended. */
    done: (method, ...args) => window.evaluate(`chat.${method}(${args.map(a => JSON.stringify(a)).join()})`),
    /** Gives messages of the chat other words, as pages do whose users edit them, and asks for an answer. */
    reword: (texts, ...args) => window.evaluate(`chat.setMessages(list => list.map((m, i) => i in ${JSON.stringify(texts)}
      ? { ...m, parts: m.parts.map(p => p.type === 'text' ? { type: 'text', text: ${JSON.stringify(texts)}[i] } : p) } : m)),
      chat.regenerate(${args.map(a => JSON.stringify(a)).join()})`),
    /** Every text of the last message that people saw since the last call, and whether an error was among it. */
    seen: () => window.evaluate(`window.shown.splice(0)`),
    finishes: () => window.evaluate(`window.finishes.splice(0)`),
    /** Keeps a picture where a folder for them is named. */
    async picture(name) {
      if (PICTURES) await writeFile(join(PICTURES, `${PAGE_LANGUAGE}-usechat-${name}.png`), await window.picture());
    },
  };
}

/** No stream ends a message without a finish, and no finish is without its reason. */
function everyFinishHasItsReason(streams) {
  assert.ok(streams.length > 0, 'no stream was seen');
  for (const stream of streams) {
    const chunks = stream.split('\n').filter(line => line.startsWith('data: {')).map(line => JSON.parse(line.slice(6)));
    const count = type => chunks.filter(c => c.type === type).length;
    for (const { type, finishReason } of chunks) assert.ok(type !== 'finish' || finishReason, `a finish without its reason: ${stream}`);
    if (stream.includes('data: [DONE]') && count('abort') === 0) assert.equal(count('finish'), count('start'), `a message without its finish: ${stream}`);
  }
}

/** Serves the page, and keeps what the host streams to it. */
export async function servePage(packages, host) {
  const { build } = createRequire(`${packages}/`)('esbuild');
  const { outputFiles: [{ text: script }] } = await build({
    stdin: { contents: page, resolveDir: packages, loader: 'js' }, bundle: true, format: 'esm', write: false, target: 'es2022',
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  const { hostname, port } = new URL(host);
  const streams = [];
  const server = http.createServer((request, response) => {
    const { method, url: path, headers } = request;
    if (!path.startsWith('/api/')) {
      response.writeHead(200, { 'content-type': path === '/app.js' ? 'text/javascript' : 'text/html' });
      return response.end(path === '/app.js' ? script : '<!doctype html><meta charset="utf-8"><div id="root"></div><script type="module" src="/app.js"></script>');
    }
    const onward = http.request({ hostname, port, method, path, headers });
    onward.on('response', answer => {
      response.writeHead(answer.statusCode, answer.headers);
      response.flushHeaders();
      if (answer.headers['content-type']?.startsWith('text/event-stream')) {
        const n = streams.push('') - 1;
        answer.setEncoding('utf8').on('data', text => { streams[n] += text; });
      }
      pipeline(answer, response, () => {}); // a cut is a cut on both sides
    });
    onward.on('error', () => response.destroy());
    pipeline(request, onward, () => {});
    response.on('close', () => onward.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { streams, url: `http://127.0.0.1:${server.address().port}`, close: () => { server.closeAllConnections(); server.close(); } };
}
