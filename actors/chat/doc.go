// Package chat is the actor that owns one chat: its history, its lane of waiting
// turns, its outbox and its runs. Nothing else writes the chat.
//
// The actor is a shell around package machine, which decides. shell.go has the loop: a
// message is decided, the facts of the plan are written, the chat becomes what it is after
// them, the effects run in their order (effects.go), and then the machine is asked what
// follows until it plans nothing more. Three rules live here and nowhere else:
//
//   - Facts are durable before any effect runs.
//   - When the store refuses a write, nothing has changed, and whoever waits hears so. When
//     the result of a write is unknown, the chat is loaded anew.
//   - No handler says what comes next; the machine is asked.
//
// Two sentences say how turns and runs meet:
//
//   - A turn that arrives while nothing runs starts a run at once; idle with open
//     turns is an impossible state.
//   - A turn that arrives during a run waits in the lane until the next step
//     boundary. There the assistant message is closed, the waiting turns follow it
//     in the order of arrival, and the run continues in a new message that sees them.
//
// At the lane's cap the sender with the most waiting turns loses one and is told once in a
// flood, and bots that answer each other are left alone after eight messages. A message that
// the chat panicked over twice is parked with a notice, where an operator finds it, and
// everything else continues.
//
// Runs are children: they ask, the chat journals and hands out the next input. What can be
// followed live goes to watchers as frames; only durable messages are ended. After a second
// at rest the journal is checkpointed.
package chat
