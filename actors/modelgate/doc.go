// Package modelgate is the actor that admits model calls: never more at once
// than the host allows, never more a minute, in fair order over chats.
//
// The order is deficit round robin over chats with one call as the quantum: the
// cost of a call is not known before it has been made, so every call counts the
// same. A chat that just had its call goes to the end of the line, whatever else
// it wants. A run asks for one call at a time and a chat has at most one run, one
// compaction and one extraction of facts, so no queue is longer than three times the
// number of chats that are working.
//
// A slot is held by an actor and comes back when that says so or ends. The calls
// that a model makes by itself when it is asked again, or when its fallback is,
// belong to the slot and are not counted anew.
package modelgate
