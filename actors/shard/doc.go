// Package shard is the actor of one hash bucket of chats: the only one that
// spawns its chats and knows their PIDs. It loses nothing when a chat is
// passivated, ends or panics: what arrives meanwhile waits here and goes to the
// chat when it is back, in order.
//
// Passivation is a handshake. The shard asks a chat that was idle for long
// enough; the chat, having handled everything sent before the question, saves
// and says that it has nothing left to do; the shard stops it only if nothing
// was sent since, and keeps what comes until the chat is really gone.
//
// How much the host may hold is looked after by the router, the one actor that
// can see all shards: a shard tells it with every activation and passivation how
// many chats it holds, how many bytes they estimate, and since when its longest
// unused chat is unused. While the host is above its ceiling, the router orders
// the shard with the longest unused chat to put that one to rest, with the same
// handshake; so the order of use holds across shards, and nothing is shared. The
// ceiling is soft: a chat that is at work, watched or waiting for a person stays.
//
// A chat that panics is restarted alone, in its own mailbox, so that only the
// message that it panicked about is lost, which was not acknowledged or is in its
// journal. The first restart comes at once, the next ones after a wait that
// doubles; after six in a row the chat is parked for ten minutes. Meanwhile its
// letters wait here; beyond a bound, and always when parked, what a sender can
// send again is refused with a reason. Other chats notice nothing of it.
//
// The code here is small on purpose, and guarded: a panic would stop every chat of
// the bucket.
package shard
