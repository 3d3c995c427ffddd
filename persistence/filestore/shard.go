package filestore

import "github.com/shipmyagent/shipmyagent/messages"

// Shards is how many shards the chats of a host are spread over.
const Shards = 256

// Shard is the shard of a chat: the FNV-1a hash of its key in 32 bits, modulo
// [Shards]. It never changes, since folders and owners are named by it.
func Shard(key messages.ChatKey) uint32 {
	const offset, prime = 2166136261, 16777619
	h := uint32(offset)
	for i := range len(key) {
		h = (h ^ uint32(key[i])) * prime
	}
	return h % Shards
}
