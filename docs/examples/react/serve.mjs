// Builds the page, serves it, and passes /api/ on to the host, so that for the
// browser both are one origin.
import { readFile } from 'node:fs/promises';
import http from 'node:http';
import { pipeline } from 'node:stream';

const host = new URL(process.env.SMA_URL ?? 'http://127.0.0.1:3000');
const port = Number(process.env.PORT ?? 5173);

await import('./build.mjs');
const files = {
  '/': ['index.html', 'text/html; charset=utf-8'],
  '/app.js': ['app.js', 'text/javascript; charset=utf-8'],
  '/style.css': ['style.css', 'text/css; charset=utf-8'],
};

const server = http.createServer(async (request, response) => {
  const { pathname } = new URL(request.url, 'http://page');
  if (pathname.startsWith('/api/')) return pass(request, response);
  const [name, type] = files[pathname] ?? [];
  if (!name) return response.writeHead(404).end('There is no such page here.\n');
  response.writeHead(200, { 'content-type': type, 'cache-control': 'no-store' });
  response.end(await readFile(new URL(`dist/${name}`, import.meta.url)));
});

// The headers go on as they are: the host compares Origin with Host and wants a
// loopback name in both. A reader that leaves ends the request to the host.
function pass(request, response) {
  const { method, url: path, headers } = request;
  const onward = http.request({ hostname: host.hostname, port: host.port || 80, method, path, headers });
  onward.on('response', answer => {
    response.writeHead(answer.statusCode, answer.headers);
    response.flushHeaders();
    pipeline(answer, response, () => {}); // a cut is a cut on both sides
  });
  onward.on('error', error => {
    if (response.headersSent) return response.destroy();
    response.writeHead(502, { 'content-type': 'text/plain' }).end(`The host at ${host.origin} does not answer: ${error.code}\n`);
  });
  pipeline(request, onward, () => {});
  response.on('close', () => onward.destroy());
}

server.on('error', error => {
  console.error(error.code === 'EADDRINUSE' ? `Port ${port} is taken: set PORT to another one.` : error.message);
  process.exit(1);
});
server.listen(port, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}, with the host at ${host.origin}`);
});
