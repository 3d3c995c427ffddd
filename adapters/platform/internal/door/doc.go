// Package door is how people come to be let in, alike on every platform that is closed
// by default: the owner pairs with a code that the host printed, a stranger gets a code
// that the owner may approve, and the owner lets groups in.
//
// The verdict on a message is not made here: each platform has a gate of its own, a
// pure function of what its messages tell. The door acts on that verdict: it redeems
// and asks for codes, lets groups in, and words the one polite notice. To do so again
// for a message that is delivered again does no harm. A code goes no further than this.
package door
