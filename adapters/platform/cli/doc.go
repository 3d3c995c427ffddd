// Package cli is the command line's side of a host on the same machine: the unix socket that only
// the owner of the process can open, a [Client] of what it serves, and a [REPL].
//
// The socket speaks the HTTP of the web platform, with chat keys of the form cli-chat-<name>. A
// message is acknowledged once it is durable; a client that disconnects stops nothing; one that
// reconnects gets the message in progress from its beginning.
package cli
