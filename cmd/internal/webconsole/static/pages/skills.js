// What the agent can do: skills, tools, and MCP servers with theirs.
import { asked, bar, box, button, bytes, cards, code, div, empty, every, exact, facts, fill, get, h, h2, label, num, p, post, redraw, say, table, tabled, text, texts, trouble, unseen, visible } from './parts.js';

const t = texts({
  title: ['Skills and tools', '技能与工具'], skills: ['Skills', '技能'], noSkills: ['There are no skills.', '没有技能。'],
  aboutSkills: ['A skill is a folder with a SKILL.md in .ship/skills or .claude/skills. Once a person has approved it, it loads without asking.', '技能是 .ship/skills 或 .claude/skills 中带有 SKILL.md 的文件夹。批准后加载时不再询问。'],
  skill: { pinned: ['approved', '已批准'], new: ['asks first', '加载前询问'], changed: ['changed, asks first', '已改动，加载前询问'] }, what: ['Description', '说明'],
  unknown: ['unknown here: ', '未知：'], tools: ['Tools', '工具'],
  offer: [(n, tokens) => `${n} tools add ${tokens} tokens to every request.`, (n, tokens) => `每次请求都会带上 ${n} 个工具，共 ${tokens} 个 token。`],
  servers: ['MCP servers', 'MCP 服务器'], noServers: ['There are no MCP servers.', '没有 MCP 服务器。'],
  aboutServers: ['MCP servers are programs with further tools. They are named in .ship/config/mcp.json.', 'MCP 服务器是提供更多工具的程序，在 .ship/config/mcp.json 中配置。'],
  condition: { starting: ['starting', '正在启动'], down: ['down, will be tried again', '中断，稍后重试'] }, test: ['Test', '测试'],
  tested: ['The server was started, and its tools were listed.', '服务器已启动，并列出了工具。'],
  is: {
    on: ['on', '已启用'], new: ['new, off', '新增，未启用'], changed: ['changed, off', '已改动，未启用'], shadows: ['off: its name is taken', '未启用：名称已被占用'],
    unusable: ['unusable', '无法使用'], gone: ['gone', '已移除'],
  },
  asks: ['asks', '使用前询问'], readOnly: ['says it only reads', '自称只读'], look: ['Read and approve', '阅读并批准'], withdrawn: [(name) => `${name} asks again.`, (name) => `${name} 会再次询问。`],
  approve: ['Approve as shown', '按所示批准'],
  approved: [(name) => `${name} is approved as it was shown.`, (name) => `已按所示内容批准 ${name}。`], on: [(n) => `Tools that are on: ${n}`, (n) => `已启用的工具：${n}`],
});

// approve shows the text of a skill, and approves the folder that it was read with.
async function approve(place, name, again) {
  const s = await asked('skills', { of: name });
  const yes = button(t.approve, async () => {
    await post('skills', { name, digest: s.digest });
    say(t.approved(name));
    fill(place);
    await again();
  }, 'primary');
  fill(place, div('box', facts(code(s.name), s.folder, bytes(s.bytes)), exact(visible(s.text), s.name), bar(yes, button(t.cancel, () => fill(place)))));
  yes.focus();
}

async function withdraw(name, again) {
  await post('skills', { name });
  say(t.withdrawn(name));
  await again();
}

const conditionOf = (s) => t.condition[s.condition] ?? t[s.condition] ?? s.condition;

const skillColumns = (place, orders, again) => [
  { head: t.name, cell: (s) => code(s.name) },
  { head: t.state, cell: (s) => label(s.state === 'pinned' ? 'good' : 'warn', t.skill[s.state] ?? s.state) },
  { head: unseen(t.approve), cell: (s) => orders && (s.state === 'pinned' ? button(t.revoke, () => withdraw(s.name, again)) : button(t.look, () => approve(place, s.name, again))) },
  { head: t.what, cell: (s) => [text(s.description), div('small dim', text(s.folder))] },
  { head: t.tools, cell: (s) => [text((s.allowedTools ?? []).join(', ')), s.unknown.length > 0 && div('warn', t.unknown, text(s.unknown.join(', ')))] },
  { head: t.size, num: true, cell: (s) => bytes(s.bytes) },
];

const toolColumns = [
  { head: t.tool, cell: (o) => code(o.name) },
  { head: t.tokens, num: true, cell: (o) => num(o.tokens) },
  { head: t.size, num: true, cell: (o) => bytes(o.bytes) },
];

// order posts an order about a server, and says how it ended.
async function order(body, told, again) {
  const s = await post('mcp', body);
  const ok = body.tool || s.condition === 'up';
  say(ok ? told : s.reason || conditionOf(s), !ok);
  await again();
}

// tool is a tool of a server. The text of one that can be approved is shown with what cannot be seen in it.
function tool(server, o, orders, again) {
  const open = o.hash && (o.state === 'new' || o.state === 'changed');
  return h('li', null, code(o.name), ' ', label(o.state === 'on' ? 'good' : 'warn', t.is[o.state] ?? o.state), ' ', o.asks && label('', t.asks), ' ', o.readOnlyClaim && label('', t.readOnly), ' ', o.reason && text(o.reason),
    o.description && (open ? exact(visible(o.description), o.name) : div('small dim', text(o.description))),
    open && orders && bar(button(t.approve, () => order({ server, tool: o.name, hash: o.hash }, t.approved(o.name), again))));
}

function server(s, orders, again) {
  const tools = (on) => s.tools.filter((o) => (o.state === 'on') === on).map((o) => tool(s.name, o, orders, again));
  const [on, off] = [tools(true), tools(false)];
  return box(h('h3', null, text(s.name), ' ', label({ up: 'good', starting: '' }[s.condition] ?? 'bad', conditionOf(s))),
    facts(code(s.shown)), s.reason && p('bad', text(s.reason)), s.help && p('', text(s.help)), h('ul', null, off),
    on.length > 0 && h('details', null, h('summary', null, t.on(on.length)), h('ul', null, on)), orders && bar(button(t.test, () => order({ server: s.name }, t.tested, again))));
}

export default {
  title: t.title,
  async show(root, { signal, me }) {
    const [bad, skills, open, servers, tools] = Array.from({ length: 5 }, () => div());
    root.append(h2(t.skills), bad, skills, open, h2(t.servers), servers, h2(t.tools), tools);
    const drawSkills = tabled(skills, skillColumns(open, me.orders, () => load()), empty(t.noSkills, t.aboutSkills));
    const drawTools = redraw((offer) => fill(tools, p('', t.offer(num(offer.tools.length), num(offer.tokens))), table(toolColumns, offer.tools)));
    const drawServers = cards(servers, empty(t.noServers, t.aboutServers), (s) => server(s, me.orders, load), (s) => s.name);
    let offer, list;
    const loads = [
      async () => drawTools(offer = await get('tools', {}, signal)),
      async () => drawServers(list = await get('mcp', {}, signal)),
      async () => {
        const doc = await asked('skills', {}, signal);
        fill(bad, trouble(doc.problems));
        const known = offer && list && [...offer.tools.map((o) => o.name), ...list.flatMap((s) => s.tools.map((o) => `${s.name}:${o.name}`))];
        drawSkills(doc.skills.map((s) => ({ ...s, unknown: [...s.unknownTools ?? [], ...s.allowedTools?.filter((n) => !(known ?? [n]).includes(n)) ?? []] })));
      },
    ];
    // load shows each part by itself, so that one that cannot be read does not hide the others.
    const load = async () => {
      let failed;
      for (const l of loads) await l().catch((e) => { failed ??= e; });
      if (failed) throw failed;
    };
    every(10_000, signal, load);
  },
};
