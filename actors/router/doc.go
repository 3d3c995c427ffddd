// Package router is the one actor that all messages to chats pass through: it knows which shard a
// chat key belongs to, and the load of every shard. The shard depends on the key alone, so all
// messages of a sender to a chat keep their order. When the shards together exceed the host's
// ceiling, it has the least recently used chats stopped, one after the other.
package router
