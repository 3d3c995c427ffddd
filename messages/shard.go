package messages

import "time"

// AskPassivate asks an idle chat whether it may be stopped. Sent by its shard;
// Seq is the number of messages the shard had sent to the chat by then. Answered
// with [PassivateOK] or [PassivateBusy].
type AskPassivate struct{ Seq uint64 }

// PassivateOK answers [AskPassivate]: everything is saved and nothing is left to
// do. The shard stops the chat unless it has sent more since.
type PassivateOK struct {
	ChatKey ChatKey
	Seq     uint64
}

// PassivateBusy answers [AskPassivate]: not now.
type PassivateBusy struct{ ChatKey ChatKey }

// ChatSized says how much memory a chat holds, about. Sent by the chat to its
// shard when the size class changed; it may be lost and may come twice.
type ChatSized struct {
	ChatKey ChatKey
	Bytes   int64
}

// ShardLoad says what a shard holds. Sent to the router whenever that changed, and
// as the answer to [Shed]; the newest wins.
type ShardLoad struct {
	Chats int
	Bytes int64
	// Oldest is when the longest unused chat that may be asked to leave was used;
	// zero: there is none.
	Oldest time.Time
	Shed   uint64 // the newest [Shed] that the shard has seen
	// Shedding: a chat was asked to leave by it and has not answered yet.
	Shedding bool
}

// Shed asks a shard to put its longest unused chat to rest, unless that was used
// after the given time. Sent by the router, one after the other to each shard;
// answered with [ShardLoad] once the chat is gone or said that it is busy.
type Shed struct {
	Seq      uint64
	NotAfter time.Time
	// Memory: the bytes are too many, not the chats.
	Memory bool
}

// Drain tells router, shards and chats that the host stops: take nothing new,
// finish or journal what is under way, and answer [Drained]. Adapters are told after
// them: begin no other call, and answer once the chats know of those under way.
type Drain struct{}

// Drained answers [Drain].
type Drained struct{ ChatKey ChatKey }

// StatsQuery asks the router for counts. Answered with [StatsReply].
type StatsQuery struct{}

// StatsReply answers [StatsQuery].
type StatsReply struct{ Active int }
