// Package answer decodes the answers of chat-completions servers.
//
// [Readers] finds the events of a response: server-sent events, or the bare objects of a server that
// does not stream. A [Parser] turns their data into stream parts, in the order of the AI SDK.
//
// It promises that
//
//   - no answer that was cut off looks complete: without a finish reason [Parser.Close] fails. An
//     answer without a reason that its server ended with [Done] or with its usage finishes as
//     "other";
//   - blocks open and close in order, calls are announced before they are made, their ids are unique
//     in the chat, and nothing follows the finish;
//   - no character of the text is lost, however the answer is cut into pieces.
//
// An exact parser does what the SDK does instead, which also keeps broken answers.
package answer
