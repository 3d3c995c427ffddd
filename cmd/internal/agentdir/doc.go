// Package agentdir reads what makes a folder an agent: its documents and skills, its time
// zone, what people chose for their chats, and how much of a request its system text takes.
// A host reads the files while it runs, and commands read them whether one runs or not.
package agentdir
