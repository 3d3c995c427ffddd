// Package chat is the actor that owns one chat: its history, its lane of waiting
// turns, its outbox and its runs. Nothing else writes the chat.
//
// Whatever must not be forgotten is a fact: it is forced to the disk first and
// acted upon second, and the state changes only by facts, so that a chat after a
// crash is the chat before it (see package persistence and
// docs/design/0002-journal.md). Two sentences say how turns and runs meet:
//
//   - A turn that arrives while nothing runs starts a run at once; idle with open
//     turns is an impossible state.
//   - A turn that arrives during a run waits in the lane until the next step
//     boundary. There the assistant message is closed, the waiting turns follow it
//     in the order of arrival, and the run goes on in a new message that sees them.
//
// A crowd cannot harm it: at the lane's cap whoever has most turns waiting loses
// one and is told once in a flood, and bots that answer each other are left alone
// after eight. A message that it panicked over twice is put aside with a notice,
// where an operator finds it, and everything else goes on.
//
// Runs are children: they ask, the chat journals and hands out the next input.
// What can be followed live goes to watchers as frames; only durable messages
// are ended. After a second at rest the journal is folded away.
package chat
