// The vendor's own library holds our fake of Feishu to what it understands:
// node feishu.mjs makes calls of FEISHU_URL and takes events, by its dispatcher and
// over its long connection. It prints one line for each event and ends with "done".
import assert from 'node:assert/strict';
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

const heard = [];
const events = new lark.EventDispatcher({ encryptKey, verificationToken, loggerLevel }).register({
  'im.message.receive_v1': async (data) => {
    heard.push(JSON.parse(data.message.content).text);
    console.log(`heard ${heard.at(-1)}`);
    if (heard.length === 3) setTimeout(end, 100);
  },
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
