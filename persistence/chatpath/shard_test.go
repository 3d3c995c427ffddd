package chatpath

import (
	"fmt"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages"
)

func TestShard(t *testing.T) {
	// The values are part of the layout on disk.
	for key, want := range map[messages.ChatKey]uint32{"": 0xc5, "a": 0x2c, "telegram-chat-42": 0x3c} {
		if got := Shard(key); got != want {
			t.Errorf("Shard(%q) = %#x, want %#x", key, got, want)
		}
	}
	seen := map[uint32]int{}
	for i := range 25600 {
		seen[Shard(messages.ChatKey(fmt.Sprintf("telegram-chat-%d", i)))]++
	}
	if len(seen) != Shards {
		t.Errorf("%d shards in use, want %d", len(seen), Shards)
	}
}
