// Package actortest builds a whole tree of actors around a scripted model and a platform without a
// service, for tests in a synctest bubble: real router, shards, chats, runs and adapter, no
// sockets, no waiting.
//
// A World can be killed: later writes of its actors fail, as if the process had ended, and another
// World continues with the same store.
package actortest
