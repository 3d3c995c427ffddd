// What the agent can do: skills, the tools of every request, and MCP servers with theirs.
import { bytes, every, h, num, say, table, text, when } from '../dom.js';
import { asked, get, post } from '../wire.js';
import { t as shared, words } from '../text.js';
import { button, empty, exact, facts, keyed, label, redraw, tabled, trouble, visible } from './parts.js';

const t = words({
  title: 'Skills and tools', skills: 'Skills', noSkills: 'There are no skills.',
  aboutSkills: 'A skill is a folder with a SKILL.md in .ship/skills or .claude/skills. It loads without asking once a person has approved it: sma skills approve NAME.',
  skill: { pinned: 'approved', new: 'asks first', changed: 'changed, asks first' }, what: 'Description', size: 'Size', files: (n) => (n === 1 ? '1 file' : `${n} files`),
  unknown: 'unknown here', tools: 'Tools', bytes: 'Bytes', offer: (n, tokens) => `${n} tools add ${tokens} tokens to every request.`,
  servers: 'MCP servers', noServers: 'There are no MCP servers.', aboutServers: 'MCP servers add tools of other programs. They are named in .ship/config/mcp.json.',
  condition: { starting: 'starting', up: 'up', down: 'down, will be tried again', off: 'off' }, test: 'Test', tested: 'The server was started and its tools were listed.',
  tool_: { on: 'on', new: 'new, off', changed: 'changed, off', shadows: 'off: its name is taken', unusable: 'unusable', gone: 'gone' }, asks: 'asks', readOnly: 'says it only reads',
  approve: 'Approve as shown', approved: (name) => `${name} is approved as it was shown.`, more: (n) => (n === 1 ? '1 tool' : `${n} tools`), about: (name) => `What ${name} says of itself`, approvedAt: 'approved ',
}, {
  title: '技能与工具', skills: '技能', noSkills: '没有技能。',
  aboutSkills: '技能是 .ship/skills 或 .claude/skills 中带有 SKILL.md 的文件夹。用 sma skills approve 名称 批准后，加载时不再询问。',
  skill: { pinned: '已批准', new: '加载前询问', changed: '已改动，加载前询问' }, what: '说明', size: '大小', files: (n) => `${n} 个文件`,
  unknown: '未知', tools: '工具', bytes: '字节', offer: (n, tokens) => `每次请求都会带上 ${n} 个工具，共 ${tokens} 个 token。`,
  servers: 'MCP 服务器', noServers: '没有 MCP 服务器。', aboutServers: 'MCP 服务器提供其他程序的工具，在 .ship/config/mcp.json 中配置。',
  condition: { starting: '正在启动', up: '正常', down: '中断，稍后重试', off: '已停用' }, test: '测试', tested: '服务器已启动，并列出了工具。',
  tool_: { on: '已启用', new: '新增，未启用', changed: '已改动，未启用', shadows: '未启用：名称已被占用', unusable: '无法使用', gone: '已移除' }, asks: '使用前询问', readOnly: '自称只读',
  approve: '按所示批准', approved: (name) => `已按所示内容批准 ${name}。`, more: (n) => `${n} 个工具`, about: (name) => `${name} 的自述`, approvedAt: '批准于 ',
});

const skillColumns = [
  { head: shared.name, cell: (s) => h('code', null, s.name) },
  { head: shared.state, cell: (s) => [label(s.state === 'pinned' ? 'good' : 'warn', t.skill[s.state] ?? s.state), s.approvedAt ? h('div', { class: 'small dim' }, t.approvedAt, when(s.approvedAt)) : null] },
  { head: t.what, cell: (s) => [text(s.description), h('div', { class: 'small dim' }, text(s.folder))] },
  { head: t.tools, cell: (s) => [text((s.allowedTools ?? []).join(', ')), s.unknownTools?.length ? h('div', { class: 'warn' }, t.unknown, ': ', text(s.unknownTools.join(', '))) : null] },
  { head: t.size, num: true, cell: (s) => [bytes(s.bytes), h('div', { class: 'small dim' }, t.files(s.files))] },
];

const toolColumns = [
  { head: shared.tool, cell: (o) => h('code', null, o.name) },
  { head: shared.tokens, num: true, cell: (o) => num(o.tokens) },
  { head: t.bytes, num: true, cell: (o) => num(o.bytes) },
];

// order posts an order about a server, and says when it was carried out.
async function order(body, told, again) {
  await post('mcp', body);
  say(told);
  await again();
}

function tool(server, o, orders, again) {
  const open = o.state === 'new' || o.state === 'changed';
  return h('li', null, h('code', null, o.name), ' ', label(o.state === 'on' ? 'good' : 'warn', t.tool_[o.state] ?? o.state), ' ', o.asks ? label('', t.asks) : null, ' ', o.readOnlyClaim ? label('', t.readOnly) : null,
    o.reason ? [' ', text(o.reason)] : null,
    open && o.description ? exact(visible(o.description), t.about(o.name)) : o.description ? h('div', { class: 'small dim' }, text(o.description)) : null,
    open && o.hash && orders ? h('div', { class: 'bar' }, button(t.approve, () => order({ server, tool: o.name, hash: o.hash }, t.approved(o.name), again))) : null);
}

function server(s, orders, again) {
  const off = s.tools.filter((o) => o.state !== 'on');
  return h('article', { class: 'box' }, h('h3', null, text(s.name), ' ', label(s.condition === 'up' ? 'good' : s.condition === 'starting' ? '' : 'bad', t.condition[s.condition] ?? s.condition)),
    facts(h('code', null, s.shown)), s.reason ? h('p', { class: 'bad' }, text(s.reason)) : null, s.help ? h('p', null, text(s.help)) : null,
    off.length ? h('ul', null, off.map((o) => tool(s.name, o, orders, again))) : null,
    s.tools.length > off.length ? h('details', null, h('summary', null, t.more(s.tools.length - off.length)), h('ul', null, s.tools.filter((o) => o.state === 'on').map((o) => tool(s.name, o, orders, again)))) : null,
    orders ? h('div', { class: 'bar' }, button(t.test, () => order({ server: s.name }, t.tested, again))) : null);
}

export default {
  id: 'skills', title: t.title, owner: true,
  async show(root, { signal, me }) {
    const [bad, skills, servers, tools] = Array.from({ length: 4 }, () => h('div'));
    root.append(h('h2', null, t.skills), bad, skills, h('h2', null, t.servers), servers, h('h2', null, t.tools), tools);
    const drawSkills = tabled(skills, skillColumns, empty(t.noSkills, t.aboutSkills));
    const drawTools = redraw((offer) => tools.replaceChildren(h('p', null, t.offer(num(offer.tools.length), num(offer.tokens))), table(toolColumns, offer.tools)));
    const drawServers = keyed(servers, empty(t.noServers, t.aboutServers), (s) => server(s, me.orders, load), (s) => s.name);
    const loads = [
      async () => {
        const doc = await asked('skills', {}, signal);
        bad.replaceChildren(...trouble(doc.problems));
        drawSkills(doc.skills);
      },
      async () => drawTools(await get('tools', {}, signal)),
      async () => drawServers(await get('mcp', {}, signal)),
    ];
    // load shows each part by itself, so that one that cannot be read does not hide the others.
    const load = async () => {
      const failed = (await Promise.allSettled(loads.map((l) => l()))).find((r) => r.status === 'rejected');
      if (failed) throw failed.reason;
    };
    every(10_000, signal, load);
  },
};
