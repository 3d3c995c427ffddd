// Checks of the project, the machine and the settings.
import { h, table, text } from '../dom.js';
import { asked } from '../wire.js';
import { words } from '../text.js';
import { button, label } from './parts.js';

const t = words({
  title: 'Doctor', about: 'Checks the project, the machine and the settings of the running host, and says how to fix what is wrong. The online check also contacts the model, the platforms and the other services of the settings.',
  again: 'Check again', online: 'Check online', checking: 'Checking…', mark: { ok: 'ok', warn: 'warning', fail: 'failed', refused: 'refused' },
  sum: (bad, warn) => (bad + warn === 0 ? 'Everything is fine.' : `${bad} failed, ${warn} ${warn === 1 ? 'warning' : 'warnings'}`),
  result: 'Result', of: 'Part', fact: 'What was found', fix: 'Try: ',
}, {
  title: '诊断', about: '检查项目、机器和运行中主机的设置，并说明如何修复问题。在线检查还会联系模型、平台以及设置中的其他服务。',
  again: '重新检查', online: '在线检查', checking: '正在检查…', mark: { ok: '正常', warn: '警告', fail: '失败', refused: '被拒绝' },
  sum: (bad, warn) => (bad + warn === 0 ? '一切正常。' : `${bad} 项失败，${warn} 项警告`),
  result: '结果', of: '项目', fact: '检查结果', fix: '建议：',
});

const kind = { ok: 'good', warn: 'warn', fail: 'bad', refused: 'bad' };

const columns = [
  { head: t.result, cell: (f) => label(kind[f.mark] ?? '', t.mark[f.mark] ?? f.mark) },
  { head: t.of, cell: (f) => f.group },
  { head: t.fact, cell: (f) => [text(f.fact), f.fix ? h('div', null, t.fix, text(f.fix)) : null] },
];

export default {
  id: 'doctor', title: t.title, owner: true,
  async show(root, { signal }) {
    const sum = h('p', { role: 'status' });
    const place = h('div');
    async function check(what) {
      sum.textContent = t.checking;
      try {
        const findings = (await asked(what, {}, signal)).findings;
        const count = (...marks) => findings.filter((f) => marks.includes(f.mark)).length;
        sum.textContent = t.sum(count('fail', 'refused'), count('warn'));
        place.replaceChildren(table(columns, findings));
      } catch (e) {
        sum.textContent = '';
        if (!signal.aborted) throw e;
      }
    }
    root.append(h('p', { class: 'hint' }, t.about),
      h('div', { class: 'bar' }, button(t.again, () => check('doctor')), button(t.online, () => check('doctor-online')), sum), place);
    await check('doctor');
  },
};
