// Package modeltest has what tests need instead of a real model: [Script] plays a
// written conversation, [Strict] and [StrictBody] check requests as the strictest
// providers do, and [Server] puts any model behind a chat-completions address that
// validates, streams and fails on purpose. [Suite] tests that the clients of all protocols
// keep the same promises, also with servers that are less careful than those here.
//
// Nothing here sleeps: everything that waits is released by the test or by the end of the
// caller's context. All of it is safe for concurrent use and works in testing/synctest
// bubbles, except for the server, which has a socket.
package modeltest
