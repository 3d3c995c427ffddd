// The console: the address of a page is #/id, or #/id/key?a=b, and the page gets { key, a } as its params.
import { $, fill, get, h, language, p, say, t } from './pages/parts.js';

const ids = 'overview chats chat approvals outbox grants tasks people memory skills usage actors log doctor settings search'.split(' ');
const pages = await Promise.all(ids.map(async (id) => ({ id, ...(await import(`./pages/${id}.js`)).default })));

let me;
let shown; // ends what the page before still does

const mayUse = (page) => page.viewer || me.role !== 'viewer';

// place reads an address that people may have written.
function place() {
  const [path, query = ''] = location.hash.replace(/^#\/?/, '').split('?', 2);
  const [id, ...rest] = path.split('/');
  let key = rest.join('/');
  try {
    key = decodeURIComponent(key);
  } catch { /* it is taken as it is */ }
  return { page: pages.find((p) => p.id === id) ?? pages[0], params: { ...Object.fromEntries(new URLSearchParams(query)), key } };
}

async function show(focus) {
  const { page, params } = place();
  shown?.abort();
  document.querySelector('dialog')?.close('no'); // its question was about the page before
  const turn = shown = new AbortController();
  const root = h('div', { id: 'root' });
  $('root').replaceWith(root);
  $('title').textContent = page.title;
  document.title = `${page.title} · ${me.project || 'ShipMyAgent'}`;
  $('state').textContent = '';
  document.body.classList.remove('side');
  $('menu').ariaExpanded = 'false';
  for (const a of document.querySelectorAll('#pages a')) a.ariaCurrent = a.dataset.id === (page.id === 'chat' ? 'chats' : page.id) ? 'page' : null;
  if (focus) $('title').focus({ preventScroll: true });
  if (!mayUse(page)) return root.append(p('hint', t.forbidden));
  try {
    await page.show(root, { params, signal: turn.signal, me });
  } catch (e) {
    if (turn.signal.aborted) return;
    if (e.status === undefined) console.error(e);
    fill(root, h('p', { class: 'bad', role: 'alert' }, e.status === 0 ? t.offline : `${t.failed}: ${e.message}`));
    if (e.status === 0 || e.status === 503) setTimeout(() => { if (shown === turn) show(false); }, 3000); // the host starts
  }
}

function frame() {
  document.documentElement.lang = language;
  for (const e of document.querySelectorAll('[data-t]')) e.textContent = t[e.dataset.t];
  for (const e of document.querySelectorAll('[data-label]')) e.setAttribute('aria-label', t[e.dataset.label]);
  fill($('pages'), pages.filter((p) => p.id !== 'chat' && mayUse(p)).map((p) => {
    const a = h('a', { href: `#/${p.id}` }, p.title);
    a.dataset.id = p.id;
    return h('li', null, a);
  }));
  $('project').textContent = me.project || 'ShipMyAgent';
  $('role').textContent = t[me.role] ?? '';
  $('role').hidden = !t[me.role];
  $('logout').hidden = me.role === 'open';
  $('back').hidden = me.role === 'viewer';
  $('skip').addEventListener('click', (e) => { // its address would be taken for a page
    e.preventDefault();
    $('title').focus();
  });
  $('menu').addEventListener('click', () => {
    const open = document.body.classList.toggle('side');
    $('menu').ariaExpanded = String(open);
    if (open) $('pages').querySelector('a').focus();
  });
  document.addEventListener('keydown', (e) => {
    if (e.key !== 'Escape' || !document.body.classList.contains('side')) return;
    $('menu').click();
    $('menu').focus();
  });
  $('root').parentNode.addEventListener('click', (e) => { // beside the open menu
    if (document.body.classList.contains('side') && !$('menu').contains(e.target)) $('menu').click();
  });
}

async function start() {
  try {
    me = await get('me');
  } catch (e) {
    say(e.status === 0 ? t.offline : `${t.failed}: ${e.message}`, true);
    if (e.status !== 403) setTimeout(start, 3000);
    return;
  }
  say('');
  frame();
  window.addEventListener('hashchange', () => show(true));
  show(false);
}

start();
