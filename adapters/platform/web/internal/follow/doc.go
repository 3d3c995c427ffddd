// Package follow turns the frames of a chat into the UI message stream of one assistant message.
//
// It is pure. A [Follower] promises that its reader gets one complete message: it begins with a start
// that names it, every block that begins also ends, and the last chunk is a finish with a reason. If
// the message starts over, nothing that the reader already has is repeated; if the reader has text
// that became obsolete, the verdict is [Void] and the stream must not end as if it were complete.
package follow
