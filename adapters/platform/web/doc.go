// Package web serves chats over HTTP: a page for people, the UI message stream v1 of the AI SDK for
// programs that use its client, a stream of frames for readers that follow a whole chat, and a
// plain request-response call for scripts.
//
// It promises that
//
//   - a message is acknowledged only after the core reported it durable, and sending
//     it again under the same id answers the same turn;
//   - a closed connection never stops a run; only the stop route does;
//   - the host's history is authoritative: of what a client sends only its newest user
//     message is used, never an earlier turn, a role or a tool result;
//   - every route except /livez requires the token; only a handler opened for a
//     demonstration works without, for loopback names, and a page of another origin is
//     never served;
//   - a viewer's token opens the console and no other route, and the guard tells the console who asks;
//   - one slow reader costs at most one bounded buffer and is dropped.
//
// What a request asks is decided in internal/request, what a reader gets of a message in
// internal/follow, and internal/respond writes everything that is not a stream.
//
// A [Platform] needs no outbox: its readers fetch the history. Everything is safe for concurrent
// use. The core, passed in as [platform.Live], decides how a chat runs, merges and stores.
package web
