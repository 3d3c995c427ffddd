// Package anthropic speaks Anthropic's Messages protocol.
//
// form.go writes model messages as the AI SDK's provider does, cache.go says where the service may
// cache a request, and answer.go decodes the events of an answer. [Protocol.Ask] sends a body with
// the official SDK, which knows the URL and the headers.
//
// Promises:
//
//   - A request that only grew begins with the bytes of the previous one, except for the marks where
//     the service may cache, which are not part of what it caches.
//   - There are at most four such marks: after the tools, the system text, the summary of a compacted
//     conversation, and the newest message.
//   - Thinking is sent back unchanged, with its signature and in its place. The service demands this
//     within a turn that calls tools, and it keeps the beginning of later requests the same. Reasoning
//     of other providers, which has no signature, is left out.
//   - No request has an empty text, a result without its call, or a first message that is not a
//     user's.
//
// The types of the SDK are not used for blocks and events: encoding one text takes 19 µs and
// decoding one piece of an answer 141 µs, where a turn takes 2,000 µs in all. Tests decode every
// request with them instead.
package anthropic
