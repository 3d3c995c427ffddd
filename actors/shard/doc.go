// Package shard is the actor of one hash bucket of chats: the only one that spawns its chats and
// knows their PIDs. It loses nothing when a chat is passivated, ends or panics: messages that
// arrive meanwhile wait here and are delivered in order when the chat is back.
//
// Passivation is a handshake. The shard asks a chat that has been idle long enough; the chat,
// having handled everything sent before the question, saves and answers that it has no work left;
// the shard stops it only if nothing was sent since, and keeps later messages until the chat has
// terminated.
//
// The router limits how much the host keeps in memory, because it is the one actor that sees all
// shards. With every activation and passivation a shard reports how many chats it has, their
// estimated size, and when its least recently used chat was used. While the host is above its
// ceiling, the router orders the shard with the least recently used chat to stop that one, with the
// same handshake; so the order of use applies across shards without shared state. The ceiling is
// soft: a chat that is working, watched or waiting for a person stays.
//
// A chat that panics is restarted alone, with its own mailbox, so that only the message that caused
// the panic is lost, and that one was not acknowledged or is in the journal. The first restart is
// immediate, the next ones follow after a wait that doubles; after six panics in a row the chat is
// parked for ten minutes. Meanwhile its letters wait here; above a bound, and always while it is
// parked, messages that the sender can repeat are refused with a reason. Other chats are not
// affected.
//
// The code here is deliberately small and recovers from panics, because a panic would stop every
// chat of the bucket.
package shard
