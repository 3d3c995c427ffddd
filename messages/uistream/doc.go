// Package uistream is the UI message stream v1 of the AI SDK 6.0.326: its
// chunks, their JSON and server-sent-event forms, and the one reducer that turns
// chunks into a UI message.
//
// A run applies the chunks it makes to a Reducer and sends the same chunks to
// people; whoever resumes later gets Replay of the message so far. Chunks are
// values and may be shared freely. A Reducer belongs to one goroutine.
package uistream
