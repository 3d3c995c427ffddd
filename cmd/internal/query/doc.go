// Package query answers questions about a project's chats and has chats carry out orders. The same code runs in a
// host, where it asks a chat's actor, and in a command while no host runs, where it reads the chat's files. Reading
// changes nothing. Without a host, only orders that need no more than files are carried out, with the state folder
// locked.
package query
