// A bot made with an independent library. It has to find in the fake of the Bot API
// what it finds at the service: node grammy.mjs, with API_ROOT and BOT_TOKEN set.
import { Bot, GrammyError, InlineKeyboard, InputFile } from 'grammy';

const bot = new Bot(process.env.BOT_TOKEN, { client: { apiRoot: process.env.API_ROOT } });
const limit = setTimeout(() => {
  console.error('timeout');
  process.exit(1);
}, 60_000);

bot.command('quit', async (ctx) => {
  await ctx.reply('bye');
  bot.stop();
});
bot.command('bold', (ctx) => ctx.reply('a <b>bold</b> &lt;word&gt;', { parse_mode: 'HTML' }));
bot.command('file', (ctx) => ctx.replyWithDocument(new InputFile(Buffer.from('of a file'), 'a.txt'), { caption: 'a file' }));
bot.command('edit', async (ctx) => {
  const sent = await ctx.reply('first');
  await ctx.api.editMessageText(ctx.chat.id, sent.message_id, 'second');
});
bot.command('keys', (ctx) => ctx.reply('choose', { reply_markup: new InlineKeyboard().text('yes', 'y').text('no', 'n') }));
bot.command('typing', async (ctx) => {
  await ctx.replyWithChatAction('typing');
  await ctx.reply('typed');
});
bot.command('wrong', async (ctx) => {
  for (const [what, call] of [
    ['markup', () => ctx.reply('<b>open', { parse_mode: 'HTML' })],
    ['empty', () => ctx.reply('')],
    ['long', () => ctx.reply('x'.repeat(4097))],
    ['chat', () => ctx.api.sendMessage(999, 'x')],
    ['message', () => ctx.api.editMessageText(ctx.chat.id, 1, 'x')],
    ['file', () => ctx.api.getFile('unknown')],
  ]) {
    try {
      await call();
      await ctx.reply(`${what}: taken`);
    } catch (error) {
      await ctx.reply(`${what}: ${error instanceof GrammyError ? error.error_code : error}`);
    }
  }
});
bot.on('callback_query:data', async (ctx) => {
  await ctx.answerCallbackQuery({ text: 'done' });
  await ctx.editMessageReplyMarkup({ reply_markup: new InlineKeyboard().text(`chosen ${ctx.callbackQuery.data}`, '-') });
});
bot.on('message:document', async (ctx) => {
  const file = await ctx.getFile();
  const got = await fetch(`${process.env.API_ROOT}/file/bot${process.env.BOT_TOKEN}/${file.file_path}`);
  await ctx.reply(`${got.status} ${await got.text()}`);
});
bot.on('edited_message:text', (ctx) => ctx.reply(`edited: ${ctx.editedMessage.text}`));
bot.on('message:text', (ctx) => ctx.reply(`echo: ${ctx.message.text}`, { reply_parameters: { message_id: ctx.message.message_id } }));
bot.catch((error) => {
  console.error(error);
  process.exit(1);
});

await bot.start({ onStart: (me) => console.log(`running as ${me.username}`) });
clearTimeout(limit);
process.exit();
