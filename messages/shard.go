package messages

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

// Drain tells router, shards and chats that the host stops: take nothing new,
// finish or journal what is under way, and answer [Drained].
type Drain struct{}

// Drained answers [Drain].
type Drained struct{ ChatKey ChatKey }

// StatsQuery asks router or shard for counts. Answered with [StatsReply].
type StatsQuery struct{}

// StatsReply answers [StatsQuery].
type StatsReply struct {
	Active  int
	Running int
}
