// Package replay holds tests only: real group chats are played through the whole
// host, from the platform's socket to the model's and back.
//
// The rooms of testdata/irc become supergroups of one bot, all at once. Who is
// addressed most often in a room plays the bot; what people say to that nick
// becomes a mention. The scripted model answers every turn once, quoting its
// message id and sender, so that what people read tells who was answered, how
// often and in which order. Afterwards the books are held against each other:
// what was said, what the model saw, what people got, the ledger, the metrics.
//
// Among the lines of a room a seeded generator puts pictures that show a number,
// albums, documents, stickers and quotes of members, of their pictures and of the bot.
// Each request has to hold each turn with its own pictures and what it quotes, in
// order, and to begin with the bytes of the request before, until old pictures become
// notes. REPLAY_SEED plays a mix again; REPLAY_ROOMS names a folder of other rooms.
//
// One test runs the host in the test's process, with egress by tool and directly.
// Another runs the real binary and kills it while people talk. A third plays rooms as
// Feishu groups and stops the host now and then.
package replay
