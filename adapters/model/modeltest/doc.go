// Package modeltest has what tests need instead of a real model: [Script] plays a
// written conversation, [Strict] and [StrictBody] judge requests as the strictest
// providers do, and [Server] puts any model behind a chat-completions address that
// validates, streams and fails on purpose. [Suite] holds the client of every protocol to
// the same promises, also with servers that are less careful than those here.
//
// Nothing here sleeps: what waits, waits for the test to release it or for the
// caller's context to end. All of it is safe for concurrent use and works in
// testing/synctest bubbles, but for the server, which has a socket.
package modeltest
