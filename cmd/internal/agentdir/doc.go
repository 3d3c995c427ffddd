// Package agentdir reads what defines an agent in a folder: its documents and skills, its time zone, the preferences
// of its chats, and how much of a request its system text takes. Hosts and commands use it.
package agentdir
