// A page that is an unmodified useChat and nothing else, with the host behind it.
import { createRequire } from 'node:module';
import { once } from 'node:events';
import http from 'node:http';
import { pipeline } from 'node:stream';

const page = `
  import { createElement as el } from 'react';
  import { createRoot } from 'react-dom/client';
  import { useChat } from '@ai-sdk/react';
  import { DefaultChatTransport } from 'ai';

  function Page({ id, messages }) {
    const chat = useChat({ id, messages, transport: new DefaultChatTransport({ api: '/api/chat' }), resume: true });
    window.chat = chat;
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

/** Serves the page; closes with the returned function. */
export async function servePage(packages, host) {
  const { build } = createRequire(`${packages}/`)('esbuild');
  const { outputFiles: [{ text: script }] } = await build({
    stdin: { contents: page, resolveDir: packages, loader: 'js' }, bundle: true, format: 'esm', write: false, target: 'es2022',
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  const { hostname, port } = new URL(host);
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
      pipeline(answer, response, () => {}); // a cut is a cut on both sides
    });
    onward.on('error', () => response.destroy());
    pipeline(request, onward, () => {});
    response.on('close', () => onward.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => { server.closeAllConnections(); server.close(); } };
}
