// Package simtest is a deterministic simulation of a host: the real router,
// shards, chats, runs, adapter and model gate over a disk, a platform, a model
// and people that are made up, with faults of every kind, all of it decided by
// one seed.
//
// Nothing here runs by itself. Mailboxes of actors and the steps of slow work
// are tasks; a scheduler that the seed drives runs one at a time and lets the
// fake time of a synctest bubble pass between them, so that a seed gives the same
// trace again, byte for byte. What the disk holds is followed beside the actors,
// and after every task the promises of the house are held against it. At the end
// faults stop, time passes, and everything must come to rest.
package simtest
