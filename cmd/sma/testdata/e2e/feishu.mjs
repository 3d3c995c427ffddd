// The vendor's own library holds our fake of Feishu to what it understands:
// node feishu.mjs makes calls of FEISHU_URL and takes events, by its dispatcher and
// over its long connection. It prints one line for each event and ends with "done".
import assert from 'node:assert/strict';
import { createReadStream } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as lark from '@larksuiteoapi/node-sdk';

const { FEISHU_URL: domain, FEISHU_APP: appId, FEISHU_SECRET: appSecret, FEISHU_KEY: encryptKey, FEISHU_TOKEN: verificationToken } = process.env;
const loggerLevel = lark.LoggerLevel.error;
const client = new lark.Client({ appId, appSecret, domain, loggerLevel });
const post = (text) => JSON.stringify({ zh_cn: { content: [[{ tag: 'text', text }]] } });

const sent = await client.im.message.create({
  params: { receive_id_type: 'chat_id' },
  data: { receive_id: 'oc_1', msg_type: 'post', content: post('from the library'), uuid: 'once' },
});
assert.equal(sent.code, 0);
const again = await client.im.message.create({
  params: { receive_id_type: 'chat_id' },
  data: { receive_id: 'oc_1', msg_type: 'post', content: post('from the library'), uuid: 'once' },
});
assert.equal(again.data.message_id, sent.data.message_id);
const reply = await client.im.message.reply({
  path: { message_id: sent.data.message_id }, data: { msg_type: 'text', content: JSON.stringify({ text: 'a reply' }) },
});
assert.equal(reply.data.parent_id, sent.data.message_id);

const card = { schema: '2.0', config: { streaming_mode: true }, body: { elements: [{ tag: 'markdown', element_id: 'answer', content: 'a' }] } };
const made = await client.cardkit.v1.card.create({ data: { type: 'card_json', data: JSON.stringify(card) } });
assert.equal(made.code, 0);
const path = { card_id: made.data.card_id, element_id: 'answer' };
assert.equal((await client.cardkit.v1.cardElement.content({ path, data: { content: 'ab', sequence: 1 } })).code, 0);
await assert.rejects(client.cardkit.v1.cardElement.content({ path, data: { content: 'abc', sequence: 1 } }), (e) => e.response.data.code === 300317);
const settings = JSON.stringify({ config: { streaming_mode: false } });
assert.equal((await client.cardkit.v1.card.settings({ path: { card_id: made.data.card_id }, data: { settings, sequence: 2 } })).code, 0);

// Files: up, shown, and those of people down, which have to be asked for by message,
// key and type.
const folder = await mkdtemp(join(tmpdir(), 'feishu-'));
const local = join(folder, 'a.pdf');
await writeFile(local, '%PDF-');
const image = await client.im.image.create({ data: { image_type: 'message', image: createReadStream(local) } });
assert.match(image.image_key, /^img_/);
const file = await client.im.file.create({ data: { file_type: 'pdf', file_name: 'a.pdf', file: createReadStream(local) } });
assert.match(file.file_key, /^file_/);
for (const [msg_type, content] of [['image', { image_key: image.image_key }], ['file', { file_key: file.file_key }]]) {
  const shown = await client.im.message.create({
    params: { receive_id_type: 'chat_id' }, data: { receive_id: 'oc_1', msg_type, content: JSON.stringify(content) },
  });
  assert.equal(shown.code, 0);
}
await assert.rejects(client.im.message.create({
  params: { receive_id_type: 'chat_id' }, data: { receive_id: 'oc_1', msg_type: 'file', content: JSON.stringify({ file_key: 'file_v3_unknown' }) },
}), (e) => e.response.data.code === 230055);
const held = JSON.parse(process.env.FEISHU_HELD);
for (const { message_id, file_key, type, text } of held) {
  const got = await client.im.messageResource.get({ path: { message_id, file_key }, params: { type } });
  const name = join(folder, type);
  await got.writeFile(name);
  assert.equal(await readFile(name, 'utf8'), text);
}
await rm(folder, { recursive: true });
await assert.rejects(client.im.messageResource.get({ path: { message_id: held[0].message_id, file_key: held[1].file_key }, params: { type: 'image' } }));

// What was forwarded together is listed below the message that holds it.
const list = await client.im.message.get({ path: { message_id: process.env.FEISHU_FORWARDED } });
assert.deepEqual(list.data.items.map((m) => [m.msg_type, m.upper_message_id ?? '']), [
  ['merge_forward', ''], ['text', process.env.FEISHU_FORWARDED], ['image', process.env.FEISHU_FORWARDED],
]);
const taken = await client.im.message.delete({ path: { message_id: reply.data.message_id } });
assert.equal(taken.code, 0);

const scopes = await client.application.v6.scope.list();
assert.ok(scopes.data.scopes.some((s) => s.scope_name === 'im:message' && s.grant_status === 1));

const heard = [];
const events = new lark.EventDispatcher({ encryptKey, verificationToken, loggerLevel }).register({
  'im.message.receive_v1': async (data) => {
    heard.push(JSON.parse(data.message.content).text);
    console.log(`heard ${heard.at(-1)}`);
    if (heard.length === 3) setTimeout(end, 100);
  },
  'im.message.recalled_v1': async (data) => console.log(`taken back ${data.message_id} in ${data.chat_id} by ${data.recall_type}`),
});
// What the fake would post.
const request = JSON.parse(process.env.FEISHU_REQUEST);
await events.invoke(Object.assign(Object.create({ headers: request.headers }), JSON.parse(request.body)));

const connection = new lark.WSClient({ appId, appSecret, domain, loggerLevel, autoReconnect: false });
await connection.start({ eventDispatcher: events });
function end() {
  console.log('done');
  process.exit(0);
}
setTimeout(() => process.exit(1), 60_000);
