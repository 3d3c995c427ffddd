// The tree of actors as it is: who supervises whom, which chats are in memory, and orders to one of them.
import { ago, bar, box, button, bytes, cards, chat, code, confirm, div, empty, every, facts, fill, get, h, h2, label, num, p, post, redraw, say, span, texts } from './parts.js';

const t = texts({
  title: ['Actors', '运行组件'], chats: ['Chats in memory', '内存中的聊天'], noChats: ['No chat is in memory.', '内存中没有聊天。'],
  about: ['A chat is loaded with its next message, and unloaded after a minute without any.', '聊天在收到下一条消息时加载，一分钟没有消息后卸载。'],
  panics: ['Restarted after panics: ', '异常后重启：'], waited: [(ms) => `A question waited at most ${ms} ms in mailboxes.`, (ms) => `提问在信箱中最多等待 ${ms} 毫秒。`],
  shards: [(n) => `with chats: ${n}`, (n) => `${n} 个有聊天`], count: [(n) => `in memory: ${n}`, (n) => `内存中 ${n} 个`], runs: [(n) => `in progress: ${n}`, (n) => `进行中 ${n}`],
  calls: [(n, waiting) => `calls: ${n}, waiting: ${waiting}`, (n, waiting) => `调用 ${n}，等待 ${waiting}`],
  is: { ending: ['ending', '正在卸载'], down: ['waits for its restart', '等待重启'], parked: ['parked after panics', '反复异常，暂停中'] },
  inRow: [(n) => `panics in a row: ${n}`, (n) => `连续异常 ${n} 次`], wait: [(n) => `messages that wait: ${n}`, (n) => `等待的消息 ${n} 条`],
  unload: ['Unload', '卸载'], restart: ['Restart', '重启'], done: ['Done.', '已完成。'],
  sure: ['Load this chat again from its journal? No message is lost; a run in progress goes on as after a crash.', '要从日志重新加载这个聊天吗？不会丢失消息，正在进行的运行会像崩溃后一样继续。'],
  refused: { busy: ['It stays: it has work, waits for a person or is watched.', '没有卸载：它有工作、在等人决定或正被查看。'], not_loaded: ['It is not in memory any more.', '它已不在内存中。'] },
});

async function order(c, restart, again) {
  if (restart && !await confirm(t.sure, t.restart)) return;
  const { refused } = await post('unload', { chatKey: c.chatKey, restart });
  say(refused ? t.refused[refused] ?? refused : t.done, Boolean(refused));
  await again();
}

function card(c, orders, again) {
  const last = span();
  const bad = c.state === 'down' || c.state === 'parked';
  const el = box(
    facts(chat(c.chatKey), c.running && label('good', t.running), c.state !== 'up' && label(bad ? 'bad' : 'warn', t.is[c.state] ?? c.state), code(`shard ${c.shard}`), bytes(c.bytes), last,
      c.panics && t.inRow(c.panics), c.waiting && t.wait(c.waiting)),
    orders && bar(button(t.unload, () => order(c, false, again)), button(t.restart, () => order(c, true, again), 'danger')));
  el.fresh = () => fill(last, ago(c.last));
  return el;
}

// tree draws the actors from the guardian down, with what the gauges say of them.
function tree({ actors, shards, chats, more = 0 }, gauges) {
  const node = (name, said, below) => h('ul', null, h('li', null, code(name), ' ', said, below));
  const of = {
    router: () => node('shard', t.shards(shards.length), [facts(...shards.map((s) => `${s.shard}: ${num(s.chats)}`)), node('chat', t.count(num(chats.length + more)), node('run', t.runs(num(gauges.sma_runs_in_flight))))]),
    modelgate: () => t.calls(num(gauges.sma_model_calls_in_flight), num(gauges.sma_model_calls_waiting)),
  };
  return node('host', '', actors.toSorted().map((name) => node(name, of[name]?.())));
}

export default {
  title: t.title, viewer: true,
  async show(root, { signal, me }) {
    const [place, health] = [div(), p('hint')];
    root.append(place, health, h2(t.chats));
    const drawTree = redraw(([doc, gauges]) => fill(place, tree(doc, gauges)));
    const draw = cards(root, empty(t.noChats, t.about), (c) => card(c, me.orders, load), (c) => c.chatKey);
    const load = async () => {
      const [doc, gauges] = await Promise.all([get('actors', {}, signal), get('gauges', {}, signal)]);
      const panics = Object.entries(doc.panics).map(([kind, n]) => `${kind} ${num(n)}`).join(', ');
      health.textContent = [t.waited(num(Math.max(0, ...doc.shards.map((s) => s.waitedMs)))), panics && t.panics + panics].filter(Boolean).join(' ');
      drawTree([doc, gauges]);
      draw(doc.chats);
    };
    every(3000, signal, load);
  },
};
