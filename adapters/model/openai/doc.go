// Package openai asks models that speak the chat-completions protocol, at any
// base URL.
//
// Promises:
//
//   - The same request always gives the same body bytes, and a request that only
//     grew begins with the bytes of the one before: what never changes in a chat
//     comes first, messages last.
//   - All waiting and retrying happens before the first event. After it, a
//     failure ends the sequence.
//   - No answer that was cut off looks finished: without a finish reason there is
//     no finish event. One that its server ended with [DONE] or with its usage, and
//     without a reason, finishes as "other".
//   - A stream may last as long as it likes, but never silent for longer than
//     the idle timeout; silence is measured on bytes, so that comments count.
//   - No error text, log line or metric holds a key.
//
// The way of a request: prompt.go makes provider messages of model messages as
// the AI SDK does, wire.go writes them as chat completions, body.go puts the body
// together, transport.go carries it (addresses and headers are go-openai's),
// sse.go and response.go turn the answer into events, and model.go retries and
// falls back around all of that.
package openai
