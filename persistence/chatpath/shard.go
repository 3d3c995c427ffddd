package chatpath

import "github.com/shipmyagent/shipmyagent/messages"

// Shards is how many shards the chats of a host are spread over.
const Shards = 256

// Shard is the shard of a chat: the 32-bit FNV-1a hash of its key, modulo [Shards]. It must never
// change, because folders and actors are named after it.
func Shard(key messages.ChatKey) uint32 {
	const offset, prime = 2166136261, 16777619
	h := uint32(offset)
	for i := range len(key) {
		h = (h ^ uint32(key[i])) * prime
	}
	return h % Shards
}
