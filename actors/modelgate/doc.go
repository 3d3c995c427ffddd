// Package modelgate is the actor that admits model calls: never more at once
// than the host allows, never more a minute, in fair order over chats.
//
// A chat has at most one run and a run asks for one call at a time, so every
// chat has at most one question waiting; taking them in turn is deficit round
// robin with one call as the quantum. A chat that just had its call goes to the
// end of the line.
package modelgate
