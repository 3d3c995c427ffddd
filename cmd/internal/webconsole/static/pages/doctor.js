// Checks of the project, the machine and the settings.
import { h, table, text } from '../dom.js';
import { asked } from '../wire.js';
import { t as shared, words } from '../text.js';
import { bar, button, label } from './parts.js';

const t = words({
  title: 'Doctor', about: 'Checks the project, the machine and the settings, and says how to fix what is wrong. The online check also contacts the model, the platforms and other services.',
  again: 'Check again', online: 'Check online', checking: 'Checking…', mark: { ok: 'ok', warn: 'warning', fail: 'failed', refused: 'refused' }, of: 'Part', fact: 'What was found', fix: 'Try: ',
  sum: (bad, warn) => (bad + warn === 0 ? 'Everything is fine.' : `Failed: ${bad}, warnings: ${warn}`),
}, {
  title: '诊断', about: '检查项目、机器和设置，并说明如何修复问题。在线检查还会联系模型、平台和其他服务。',
  again: '重新检查', online: '在线检查', checking: '正在检查…', mark: { ok: '正常', warn: '警告', fail: '失败', refused: '被拒绝' }, of: '项目', fact: '检查结果', fix: '建议：',
  sum: (bad, warn) => (bad + warn === 0 ? '一切正常。' : `${bad} 项失败，${warn} 项警告`),
});

const kind = { ok: 'good', warn: 'warn', fail: 'bad', refused: 'bad' };

const columns = [
  { head: shared.state, cell: (f) => label(kind[f.mark] ?? '', t.mark[f.mark] ?? f.mark) },
  { head: t.of, cell: (f) => f.group },
  { head: t.fact, cell: (f) => [text(f.fact), f.fix ? h('div', null, t.fix, text(f.fix)) : null] },
];

export default {
  id: 'doctor', title: t.title, owner: true,
  async show(root, { signal }) {
    const sum = h('span', { role: 'status' });
    const place = h('div');
    async function check(what) {
      sum.textContent = t.checking;
      try {
        const findings = await asked(what, {}, signal);
        const count = (k) => findings.filter((f) => kind[f.mark] === k).length;
        sum.textContent = t.sum(count('bad'), count('warn'));
        place.replaceChildren(table(columns, findings));
      } catch (e) {
        sum.textContent = '';
        if (!signal.aborted) throw e;
      }
    }
    root.append(h('p', { class: 'hint' }, t.about), bar(button(t.again, () => check('doctor')), button(t.online, () => check('doctor-online')), sum), place);
    await check('doctor');
  },
};
