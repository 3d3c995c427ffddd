// Package actortest builds a whole tree of actors around a scripted model and a
// platform without a service, for tests in a synctest bubble: real router,
// shards, chats, runs and adapter, no sockets, no waiting.
//
// A World can be killed: what its actors still write after that fails, as if the
// process were gone, and another World goes on with the same store.
package actortest
