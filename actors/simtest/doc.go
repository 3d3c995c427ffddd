// Package simtest is a deterministic simulation of a host: the real router, shards, chats, runs,
// adapter and model gate with a simulated disk, platform, model and people, with faults of every
// kind, all of it decided by one seed.
//
// Nothing here runs by itself. Mailboxes of actors and the steps of slow work are tasks; a
// scheduler driven by the seed runs one at a time and lets the fake time of a synctest bubble pass
// between them, so that a seed always gives the same trace, byte for byte. The contents of the disk
// are tracked independently of the actors, and after every task the guarantees of the host are
// checked against them. At the end faults stop, time passes, and all work must complete.
package simtest
