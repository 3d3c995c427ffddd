// Package journal is what a chat keeps: the facts of its journal, and the state that
// follows from them. It is pure: it knows no store, no clock and no actor.
//
// A chat is written by one actor only. What it wants to be durable it says as
// facts: one fact is one journal line and is forced to the disk before anybody
// hears of it. History and ledger are copies that [State.Fold] moves out of the
// journal; they are synced before the journal is cut, and applying a journal
// over a history that already holds its turns changes nothing. So a crash at any
// point leaves a folder from which [Replay] makes the same state.
//
// The order of facts and the fate that each event leads to are written down in
// docs/design/0002-journal.md.
package journal
