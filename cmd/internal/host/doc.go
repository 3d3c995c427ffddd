// Package host puts a project together and runs it: settings, documents, store,
// model, tools, actors, platforms. It is the one place that names
// implementations.
//
// [Host.Start] builds in order of need and takes down what it built if a later
// part fails. Platforms come last, so that nothing is taken before it can be
// handled. [Host.Stop] goes the other way within a deadline: platforms take
// nothing more, runs end or are left in the journal, egress goes out, the store
// closes. A process that is killed instead loses nothing either; a stop is only
// the polite way.
//
// A start costs as much as the project is large, not as many chats as it has:
// only chats that were not at rest are looked at, and schemas are compiled by
// their first use.
package host
