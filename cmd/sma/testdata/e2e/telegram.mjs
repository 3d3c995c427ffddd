// An independent emulation of the Bot API holds the host to what it understands:
// node telegram.mjs PROJECT starts it, runs the host against it and talks to the bot.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import telegram from 'telegram-test-api';

const TelegramServer = telegram.default ?? telegram;
const token = '4242:judge';
const limit = setTimeout(() => fail(new Error(`timeout while waiting for ${waiting}`)), 60_000);
let waiting = 'the start';
let log = '';
let host;

function fail(error) {
  console.error(error);
  console.error(`the host said:\n${log}`);
  host?.kill('SIGKILL');
  process.exit(1);
}

const judge = new TelegramServer();
const refused = [];
judge.webServer._router ?? judge.webServer.router; // routes are made by now
const server = http.createServer((req, res) => {
  res.on('finish', () => {
    if (res.statusCode >= 400) refused.push(`${req.url.replace(/bot[^/]*/, 'bot')} ${res.statusCode}`);
  });
  judge.webServer(req, res);
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const url = `http://127.0.0.1:${server.address().port}`;

// until asks again until it is answered with something.
async function until(what, ask) {
  waiting = what;
  for (;;) {
    const found = ask();
    if (found) return found;
    await new Promise((done) => setImmediate(done));
  }
}

// said are the bot's messages to a chat.
const said = (chat) => judge.storage.botMessages.filter((m) => String(m.message.chat_id) === String(chat)).map((m) => m.message);

try {
  host = spawn('sma', ['run', process.argv[2]], { env: { ...process.env, SMA_ADAPTERS_TELEGRAM_BASE_URL: url, TELEGRAM_BOT_TOKEN: token }, stdio: ['ignore', 'pipe', 'pipe'] });
  host.stdout.on('data', (d) => { log += d; });
  host.stderr.on('data', (d) => { log += d; });
  const ended = once(host, 'exit');

  // A private chat: each message is answered, in order.
  const ann = judge.getClient(token, { userId: 7, chatId: 7, firstName: 'Ann' });
  ann.url = url;
  for (let i = 1; i <= 3; i++) {
    await ann.sendMessage(ann.makeMessage(`please m-7-${i}`));
    await until(`answer ${i}`, () => said(7).some((m) => m.text.includes(`m-7-${i}`)));
  }
  assert.deepEqual(said(7).map((m) => m.text.match(/m-7-\d/g)).flat(), ['m-7-1', 'm-7-2', 'm-7-3']);
  assert.ok(said(7).every((m) => m.parse_mode === 'HTML' || m.parse_mode === undefined));

  // A command is answered by the host.
  await ann.sendCommand(ann.makeCommand('/status'));
  await until('the status', () => said(7).some((m) => m.text.includes('fake')));

  // A group: only what mentions the bot is answered.
  const group = judge.getClient(token, { userId: 8, chatId: -100, firstName: 'Bob', type: 'supergroup', chatTitle: 'Team' });
  group.url = url;
  const mention = { entities: [{ type: 'mention', offset: 0, length: '@TestNameBot'.length }] };
  await group.sendMessage(group.makeMessage('nobody asked m-8-1'));
  await group.sendMessage(group.makeMessage('@TestNameBot please m-8-2', mention));
  await until('the answer in the group', () => said(-100).length > 0);
  assert.match(said(-100)[0].text, /m-8-2/);
  assert.doesNotMatch(said(-100)[0].text, /m-8-1/);

  // A button of nobody's harms nothing.
  await ann.sendCallback(ann.makeCallbackQuery('y:nothing:0'));
  await ann.sendMessage(ann.makeMessage('please m-7-9'));
  await until('the last answer', () => said(7).some((m) => m.text.includes('m-7-9')));

  host.kill('SIGTERM');
  waiting = 'the end';
  const [code] = await ended;
  assert.equal(code, 0);
  // Beyond what the emulation knows, the host asks only for what is optional.
  const optional = /\/bot\/(sendChatAction|setMyCommands|getWebhookInfo|setMessageReaction) /;
  assert.deepEqual(refused.filter((line) => !optional.test(line)), []);
  console.log(`${said(7).length + said(-100).length} messages`);
} catch (error) {
  fail(error);
}
clearTimeout(limit);
process.exit();
