// Package journal defines the durable data of a chat: the facts of its journal and the state that they build. It is
// pure: it uses no stores, clocks or actors.
//
// Only one actor writes a chat. Whatever must be durable is a fact: one fact is one line of the journal, and fsync
// makes it durable before anyone is informed of it. History and ledger are copies that [State.Checkpoint] moves out of the
// journal in a checkpoint. They are made durable before the journal is cut, and applying a journal to a history that
// already contains its turns has no effect. So after a crash at any point, [Replay] builds the same state.
//
// The order of facts and the fates of ingresses are documented in docs/design/0002-journal.md.
package journal
