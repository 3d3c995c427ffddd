// Package router is the one actor that everything for a chat passes: it knows
// which shard a chat key belongs to, and what every shard holds. The key decides
// alone, so all messages of a sender to a chat keep their order. When the shards
// together hold more than the host's ceiling, it has the longest unused chats put
// to rest, one after the other.
package router
