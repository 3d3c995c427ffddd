// Package openai asks models that speak the chat-completions protocol, at any
// base URL.
//
// How a call goes:
//
//  1. [Model.Stream] (model.go) takes the first model that its breaker (breaker.go)
//     admits, and the next one when that fails for good before its first event.
//  2. A model that refuses pictures (sight.go) or tools (notools.go) is asked again
//     without them; other failures that may pass are retried (retry.go, errors.go).
//  3. The body: prompt.go turns model messages into provider messages as the AI SDK
//     does, wire.go writes these as chat completions, body.go puts the settings, the
//     tools (head.go) and the messages together.
//  4. exchange.go sends it by a client of go-openai, which knows the addresses, Azure's
//     among them, and the headers; watchdog.go ends the call when the model is silent.
//  5. The answer: address.go tells a model's answer from a web page, sse.go finds the
//     events, chunk.go and response.go make stream parts of them, tags.go tells reasoning
//     from text, and read.go hands the parts over.
//
// Promises:
//
//   - The same request always gives the same body bytes, and a request that only
//     grew begins with the bytes of the one before: what never changes in a chat
//     comes first, messages last.
//   - All waiting and retrying happens before the first event. After it, a
//     failure ends the sequence.
//   - No answer that was cut off looks finished: without a finish reason there is
//     no finish event. An answer without a reason that its server ended with [DONE] or
//     with its usage finishes as "other".
//   - A stream may last as long as it likes, but is never silent for longer than
//     the idle timeout. Silence is measured in bytes, so comments count.
//   - No error text, log line or metric holds a key.
//
// Two parts of go-openai's chat call are not used. Its request types cannot keep the first
// promise: they put the tools after the messages, write < and > as escapes, and lack files,
// audio and content that is null. They also encode the whole chat anew for every request:
// 0.8 ms and 571 allocations for 30 turns, where a turn takes 1.4 ms of processor time in
// all; body.go goes on from the last request in 0.014 ms and 9 allocations. Its stream
// cannot keep the third promise: RecvRaw reports [DONE] and a body that just ended alike,
// drops an event that begins with an error member, and reads no answer in one piece.
// BenchmarkLibrary and BenchmarkBody measure this.
package openai
