// Package modelgate is the actor that admits model calls: at most the configured number at once and
// per minute, in fair order over chats.
//
// The order is deficit round robin over chats with one call as the quantum: the cost of a call is
// not known in advance, so every call counts the same. A chat that just had its call goes to the
// end of the line. A run asks for one call at a time and a chat has at most one run, one compaction
// and one extraction of facts, so no queue is longer than three times the number of working chats.
//
// A slot belongs to an actor and is returned when the actor releases it or ends. Retries and calls
// of a fallback model belong to the same slot and are not counted again.
package modelgate
