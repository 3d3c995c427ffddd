// Package provider calls models that support the chat-completions protocol, at any base URL.
//
// How a call works:
//
//  1. [Model.Stream] (model.go) uses the first model that its breaker (breaker.go)
//     admits, and the next one if that fails permanently before its first event.
//  2. A model that refuses pictures (sight.go) or tools (notools.go) gets the request
//     again without them; other temporary failures are retried (retry.go, errors.go).
//  3. The body: prompt.go turns model messages into provider messages as the AI SDK
//     does, wire.go writes these as chat completions, body.go combines the settings, the
//     tools (head.go) and the messages.
//  4. exchange.go sends it with a client of go-openai, which knows the URLs, including
//     Azure's, and the headers; watchdog.go ends the call if the model is silent.
//  5. The answer: address.go distinguishes a model's answer from a web page, internal/answer
//     decodes it into stream parts, and read.go yields them.
//
// Promises:
//
//   - The same request always gives the same body bytes, and a request that only
//     grew begins with the bytes of the previous one: what never changes in a chat
//     comes first, messages last.
//   - All waiting and retrying happens before the first event. After it, a
//     failure ends the sequence.
//   - No answer that was cut off looks complete: without a finish reason there is
//     no finish event. An answer without a reason that its server ended with [DONE] or
//     with its usage finishes as "other".
//   - A stream may last arbitrarily long, but is never silent for longer than
//     the idle timeout. Silence is measured in bytes, so comments count.
//   - No error text, log line or metric contains a key.
//
// Two parts of go-openai's chat call are not used. Its request types cannot keep the first promise:
// they put the tools after the messages, write < and > as escapes, and lack files, audio and
// content that is null. They also encode the whole chat again for every request: 0.8 ms and 571
// allocations for 30 turns, where a turn takes 1.4 ms of processor time in all; body.go continues
// from the last request in 0.014 ms and 9 allocations. Its stream cannot keep the third promise:
// RecvRaw does not distinguish [DONE] from a body that just ended, drops an event that begins with
// an error field, and cannot read an answer in one piece. BenchmarkLibrary and BenchmarkBody
// measure this.
package provider
