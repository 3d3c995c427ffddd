// Package compaction is the actor that makes a summary of the older part of a
// chat. It is a child of the chat, gets the turns as they are, asks the model
// through the gate like a run does, and answers once and is stopped by it. The chat
// goes on meanwhile and decides what becomes of the answer.
//
// Turns are counted exactly here, beside the actor: a chat itself knows bounds
// only. What may be folded follows from cut: never a part of a turn, so that a
// call keeps its result; never a turn with a call that waits for a person; never
// across an open turn; at least Keep turns stay unless they alone are more than
// half of the budget.
//
// The words of the chat are handed to the model as JSON, as the material of a
// user's message. What comes back is text of an assistant's turn and nothing more:
// it never becomes system text. Names, numbers and addresses that the model left
// out are added to it as they were written.
package compaction
