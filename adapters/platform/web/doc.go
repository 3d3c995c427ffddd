// Package web serves chats over HTTP: a page for people, the UI message stream v1
// of the AI SDK for programs that use its client, a stream of frames for readers
// that follow a whole chat, and a plain request-and-answer call for scripts.
//
// It promises that
//
//   - a message is acknowledged only after the core called it durable, and sending
//     it again under the same id answers the same turn;
//   - a closed connection never stops a run; only the stop route does;
//   - the host's history is the truth: of what a client sends only its newest user
//     message is taken, never an earlier turn, a role or a tool result;
//   - every route but /livez asks for the token; only a handler that was opened for a
//     demonstration does without, for loopback names, and in no case is a page of
//     another origin served;
//   - one slow reader costs at most one bounded buffer and is dropped.
//
// A [Platform] needs no outbox: its readers fetch the history. Everything is safe
// for concurrent use. How a chat runs, merges and stores is the core's, which
// comes in as [platform.Live].
package web
