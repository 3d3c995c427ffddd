// Package provider calls models at the addresses of their providers.
//
// How a call works:
//
//  1. [Model.Stream] (model.go) uses the first model that its breaker (breaker.go)
//     admits, and the next one if that fails permanently before its first event.
//  2. A model that refuses pictures, thinking (sight.go), tools (notools.go) or how much
//     it should think (effort.go) gets the request again without them; other temporary
//     failures are retried (retry.go, errors.go).
//  3. The protocol of the endpoint writes the request: package chat for chat completions,
//     anthropic for Messages, responses for Responses. What protocols share, such as the
//     memo with which only new messages are encoded, is in package protocol.
//  4. A meter, if there is one, admits each request and learns what it used (meter.go).
//     exchange.go sends it; watchdog.go ends the call if the model is silent.
//  5. address.go distinguishes a model's answer from a web page, the protocol decodes it
//     into stream parts, and read.go yields them.
//
// Promises:
//
//   - The same request always gives the same body bytes, and a request that only
//     grew begins with the bytes of the previous one.
//   - All waiting and retrying happens before the first event. After it, a
//     failure ends the sequence.
//   - No answer that was cut off looks complete: without a finish reason there is
//     no finish event. An answer without a reason that its server ended with [DONE] or
//     with its usage finishes as "other".
//   - A stream may last arbitrarily long, but is never silent for longer than
//     the idle timeout. Silence is measured in bytes, so comments count.
//   - No error text, log line or metric contains a key.
package provider
