// Checks of the project, the machine and the settings.
import { asked, bar, button, div, fill, h, label, p, table, text, texts } from './parts.js';

const t = texts({
  title: ['Doctor', '诊断'],
  about: ['Checks the project, the machine and the settings, and says how to fix what is wrong. The online check also contacts the model, the platforms and other services.', '检查项目、机器和设置，并说明如何修复问题。在线检查还会联系模型、平台和其他服务。'],
  again: ['Check again', '重新检查'], online: ['Check online', '在线检查'], checking: ['Checking…', '正在检查…'],
  mark: { ok: ['ok', '正常'], warn: ['warning', '警告'], fail: ['failed', '失败'], refused: ['refused', '被拒绝'] }, of: ['Part', '项目'], fact: ['What was found', '检查结果'],
  fix: ['Try: ', '建议：'],
  sum: [(bad, warn) => (bad + warn === 0 ? 'Everything is fine.' : `Failed: ${bad}, warnings: ${warn}`), (bad, warn) => (bad + warn === 0 ? '一切正常。' : `${bad} 项失败，${warn} 项警告`)],
});

const kind = { ok: 'good', warn: 'warn', fail: 'bad', refused: 'bad' };

const columns = [
  { head: t.state, cell: (f) => label(kind[f.mark] ?? '', t.mark[f.mark] ?? f.mark) },
  { head: t.of, cell: (f) => f.group },
  { head: t.fact, cell: (f) => [text(f.fact), f.fix ? div('', t.fix, text(f.fix)) : null] },
];

export default {
  title: t.title,
  async show(root, { signal }) {
    const sum = h('span', { role: 'status' });
    const place = div();
    async function check(what) {
      sum.textContent = t.checking;
      try {
        const findings = await asked(what, {}, signal);
        const count = (k) => findings.filter((f) => kind[f.mark] === k).length;
        sum.textContent = t.sum(count('bad'), count('warn'));
        fill(place, table(columns, findings));
      } catch (e) {
        sum.textContent = '';
        if (!signal.aborted) throw e;
      }
    }
    root.append(p('hint', t.about), bar(button(t.again, () => check('doctor')), button(t.online, () => check('doctor-online')), sum), place);
    await check('doctor');
  },
};
