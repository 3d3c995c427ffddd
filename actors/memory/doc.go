// Package memory is the actor that takes facts from a chat: what is said in it is
// remembered when it is long gone from the conversation.
//
// It is a child of the chat, gets the turns as they are, asks the model through
// the gate, writes what it found to the chat's memory, answers once and is stopped
// by it. The chat goes on meanwhile. A mark says how far it was: facts and mark
// reach the disk together, so that no turn is read twice and none is left out; a
// failure changes neither, and turns that were folded meanwhile are read from the
// archive by the next extraction.
//
// The words of the chat are handed to the model as JSON, as the material of a
// user's message. What comes back becomes facts only where it has the form of
// facts with the turns they are from: one line each, dated by the turn. They are
// quoted wherever a model reads them.
//
// A memory that grew too long is written anew, shorter, with a copy kept first. Its
// front matter stays as it is, and so does everything if the model fails, makes it
// longer, or somebody changed it meanwhile.
package memory
