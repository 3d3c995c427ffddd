// The settings in effect, where each comes from, and what is wrong with them.
import { asked, bar, code, div, every, fill, finder, h, label, p, redraw, table, text, texts } from './parts.js';

const t = texts({
  title: ['Settings', '设置'],
  about: ['These settings are in effect; secrets are hidden. They are changed in ship.json, in .env or in the environment of the host.', '这里是当前生效的设置，密钥已隐藏。修改请编辑 ship.json、.env 或主机的环境变量。'],
  fine: ['The settings have no faults.', '设置没有问题。'], key: ['Setting', '设置项'], value: ['Value', '值'], from: ['From', '来源'], filter: ['Filter settings', '筛选设置'],
  own: ['Only what differs from the defaults', '只显示非默认值'], severity: { error: ['error', '错误'], warning: ['warning', '警告'] },
  untrusted: ['Not trusted yet, see sma trust: ', '尚未信任（见 sma trust）：'],
});

// rows are the lines `key = value  # origin`; a value may hold any of these signs.
const rows = (shown) => shown.split('\n').map((line) => line.match(/^(.+?) = (.*) {2}# (.*)$/)).filter(Boolean).map(([, key, value, from]) => ({ key, value, from }));

const columns = [
  { head: t.key, cell: (r) => code(r.key) },
  { head: t.value, cell: (r) => r.value },
  { head: t.from, cell: (r) => r.from },
];

function report({ findings, untrusted }) {
  const all = [
    ...(findings ?? []).map((f) => p('', label(f.severity === 'error' ? 'bad' : 'warn', t.severity[f.severity] ?? f.severity), ' ', text(`${f.file}${f.line ? `:${f.line}:${f.col}` : ''}: ${f.message}`))),
    ...(untrusted ?? []).map((r) => p('warn', t.untrusted, text(r.text))),
  ];
  return all.length ? all : [p('good', t.fine)];
}

export default {
  title: t.title,
  async show(root, { signal }) {
    const [found, place] = [h('div', { role: 'status' }), div()];
    const filter = finder(t.filter, { oninput: () => draw() });
    const own = h('input', { type: 'checkbox', checked: true, onchange: () => draw() });
    root.append(p('hint', t.about), found, bar(filter, h('label', null, own, ' ', t.own)), place);
    let all = [];
    const draw = () => fill(place, table(columns, all.filter((r) => (!own.checked || r.from !== 'default') && `${r.key} ${r.value}`.toLowerCase().includes(filter.value.toLowerCase()))));
    const drawAll = redraw(([check, shown]) => {
      fill(found, report(check));
      all = rows(shown.textOrigin);
      draw();
    });
    every(30_000, signal, async () => drawAll(await Promise.all([asked('config-check', {}, signal), asked('config-show', {}, signal)])));
  },
};
