// Package shard is the actor of one hash bucket of chats: the only one that
// spawns its chats and knows their PIDs. It loses nothing when a chat is
// passivated or ends: what arrives meanwhile waits here and goes to the next
// activation, in order.
//
// Passivation is a handshake. The shard asks a chat that was idle for long
// enough; the chat, having handled everything sent before the question, saves
// and says that it has nothing left to do; the shard stops it only if nothing
// was sent since, and keeps what comes until the chat is really gone.
//
// The code here is small on purpose and cannot panic: a panic would stop every chat
// of the bucket.
package shard
