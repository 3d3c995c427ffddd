package messages

import "time"

// AskPassivate asks an idle chat whether it may be stopped. Sent by its shard;
// Seq is the number of the last message that the shard had sent to the chat by then,
// counted over all its chats. Answered with [PassivateOK] or [PassivateBusy].
type AskPassivate struct{ Seq uint64 }

// PassivateOK answers [AskPassivate]: everything is saved and no work is left. The shard stops the
// chat unless it has sent more messages since.
type PassivateOK struct {
	ChatKey ChatKey
	Seq     uint64
}

// PassivateBusy answers [AskPassivate]: the chat cannot be stopped now.
type PassivateBusy struct{ ChatKey ChatKey }

// ChatSized reports approximately how much memory a chat uses. Sent by the chat to its shard when
// the size class changed; it may be lost and may be sent twice.
type ChatSized struct {
	ChatKey ChatKey
	Bytes   int64
}

// ShardLoad reports the load of a shard. Sent to the router whenever it changed, and as the answer
// to [Shed]; the newest wins.
type ShardLoad struct {
	Chats int
	Bytes int64
	// Oldest is when the least recently used chat that can be asked to stop was used; it is zero if
	// there is no such chat.
	Oldest time.Time
	Shed   uint64 // the newest [Shed] that the shard has seen
	// Shedding is set while a chat that it asked to stop has not answered.
	Shedding bool
}

// Shed asks a shard to stop its least recently used chat, unless that was used after the given
// time. Sent by the router to one shard after the other; answered with [ShardLoad] once the chat
// has stopped or said that it is busy.
type Shed struct {
	Seq      uint64
	NotAfter time.Time
	// Memory is set if memory, not the number of chats, is over the limit.
	Memory bool
}

// Drain tells router, shards and chats that the host stops: accept nothing new, finish or journal
// the work in progress, and answer [Drained]. Adapters get it after them: start no other call, and
// answer once the chats know of those in progress.
type Drain struct{}

// Drained answers [Drain].
type Drained struct{ ChatKey ChatKey }

// StatsQuery asks the router for counts. Answered with [StatsReply].
type StatsQuery struct{}

// StatsReply answers [StatsQuery].
type StatsReply struct{ Active int }

// ShardQuery asks a shard, by its number, which chats it has in memory. Sent by the host to the
// router, which passes it on; answered with [ShardReply].
type ShardQuery struct{ Shard int }

// ShardReply answers [ShardQuery].
type ShardReply struct{ Chats []ActiveChat }

// ActiveChat is a chat in memory, as its shard knows it.
type ActiveChat struct {
	ChatKey ChatKey
	Last    time.Time // when it was sent something
	Bytes   int64     // its own estimate
	Waiting int       // messages that wait in the shard, because it ends or is down
	Panics  int       // in a row
	Ending  bool      // it is being unloaded
	Down    bool      // it has panicked, and waits for its restart
	Parked  bool      // it has panicked too often, and waits for long
}

// UnloadChat orders the shard of a chat to stop its actor. Without Restart, only a chat without
// work is stopped. With it, a chat is stopped after everything that it was sent before and loaded
// again from its journal, so that a run in progress resumes as after a crash; one that waits after
// a panic is restarted at once. Sent by the host for an operator; answered with [ChatUnloaded]. It
// may be repeated.
type UnloadChat struct {
	ChatKey ChatKey
	Restart bool
}

// ChatUnloaded answers [UnloadChat].
type ChatUnloaded struct {
	ChatKey ChatKey
	Refused UnloadRefusal // empty if the order was carried out
}

// UnloadRefusal is why a chat was not stopped.
type UnloadRefusal string

// The reasons.
const (
	UnloadBusy      UnloadRefusal = "busy"       // it has work, is watched, waits for a person, or is ending
	UnloadNotLoaded UnloadRefusal = "not_loaded" // it is not in memory
)

func (m UnloadChat) key() ChatKey { return m.ChatKey }
