// Package chat is the actor that owns one chat: its history, its lane of queued turns, its outbox and its runs.
// Nothing else writes the chat.
//
// The actor is a shell around package machine, which makes the decisions. The loop is in shell.go: a message is
// decided, the facts of the plan are written, the chat after the writes replaces the one before, and the effects run
// in order (effects.go). Then the machine is asked what follows, until it plans nothing more. The shell enforces three
// rules:
//
//   - Facts are durable before any effect runs.
//   - When the store refuses a write, nothing has changed, and the sender of the message is informed. When the result
//     of a write is unknown, the chat is loaded again.
//   - Handlers do not decide what comes next; the machine is asked.
//
// Turns and runs relate as follows:
//
//   - A turn that arrives while no run is in progress starts one at once. A chat with open turns is never idle.
//   - A turn that arrives during a run waits in the lane until the next step boundary. There the assistant message
//     is closed, the queued turns follow it in order of arrival, and the run continues in a new message that sees
//     them.
//
// When the lane is full, the sender with the most queued turns loses one and gets one notice in each flood. Bots that
// answer each other are ignored after eight messages. A message that has crashed the chat twice is quarantined with a
// notice, and an operator can retry or drop it; everything else continues.
//
// Runs are children: they send requests, and the chat journals and provides the next input. Watchers receive the
// progress as frames, but a message is only ended once it is durable. After five seconds without activity the journal
// is checkpointed, and a chat with nothing left to do hibernates: it drops its state until the next message.
package chat
