// Package answer decodes the answers of chat-completions servers.
//
// A [Parser] turns the data of their events into stream parts, in the order of the AI SDK.
//
// It promises that
//
//   - no answer that was cut off looks complete: without a finish reason [Parser.Close] fails. An
//     answer without a reason that its server ended with [DONE] or with its usage finishes as
//     "other";
//   - blocks open and close in order, calls are announced before they are made, their ids are unique
//     in the chat, and nothing follows the finish;
//   - no character of the text is lost, however the answer is cut into pieces.
//
// An exact parser does what the SDK does instead, which also keeps broken answers.
package answer
