// Package chat speaks the chat-completions protocol.
//
// wire.go writes model messages as messages of the protocol, as the AI SDK does, and head.go the
// settings and tools. [Protocol.Ask] sends a body with a client of go-openai, which knows the URLs,
// including Azure's, and the headers. Package answer decodes the response.
//
// Two parts of go-openai's chat call are not used. Its request types do not keep the order of a
// request's bytes: they put the tools after the messages, write < and > as escapes, and lack files,
// audio and content that is null. They also encode the whole chat again for every request: 0.8 ms
// and 571 allocations for 30 turns, where a turn takes 1.4 ms of processor time in all; a memo
// continues from the last request in 0.014 ms and 9 allocations. Its stream does not tell an answer
// that was cut off: RecvRaw does not distinguish [DONE] from a body that just ended, drops an event
// that begins with an error field, and cannot read an answer in one piece. BenchmarkLibrary and
// BenchmarkBody measure this.
package chat
