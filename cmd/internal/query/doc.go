// Package query answers what commands ask about a project's chats and has chats carry out
// orders. The same code runs in a running host, where a chat's actor is asked, and in a
// command while no host runs, where the chat's files answer instead. Reading changes
// nothing. Without a host, only orders that need nothing but files are carried out, and the
// state folder is locked meanwhile.
package query
