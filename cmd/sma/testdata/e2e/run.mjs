// Runs one scenario: node run.mjs NAME. Then the host is stopped, and every
// history on its disk has to be valid. Exits with 1 and the difference.
import { control, valid } from './lib.mjs';

try {
  const { default: scenario } = await import(`./scenarios/${process.argv[2]}.mjs`);
  await scenario();
  const chats = JSON.parse(await control('/finish'));
  for (const messages of chats) await valid(messages);
  console.log(`${chats.length} chats, ${chats.flat().length} messages`);
} catch (error) {
  console.error(error);
  process.exitCode = 1;
}
process.exit();
