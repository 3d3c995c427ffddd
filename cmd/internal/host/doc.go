// Package host puts a project together and runs it: settings, documents, store, model, tools, actors, platforms. It
// is the one place that names implementations.
//
// [Host.Start] builds the parts in order of their dependencies, and stops those that it has built if a later one
// fails. Platforms start last, so that no message is accepted before it can be handled. [Host.Stop] works in reverse
// order within a deadline: platforms accept no more messages, runs end or stay in the journal, egress is delivered,
// the store closes. A process that is killed instead loses nothing.
//
// The cost of a start depends on the size of the project, not on its number of chats: only chats with unfinished work
// are opened, and schemas are compiled when first used.
package host
