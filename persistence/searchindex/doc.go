// Package searchindex finds turns by their words: full text over the history
// of chats and over what was archived of it, Chinese, Japanese and Korean
// included. The index is one SQLite file that holds nothing of its own: it is
// made from the files of the chats and may be deleted at any time.
//
// A search first brings the index up to date with the files of the chats that
// it asks about, and reads each result back from its file. So the index only
// ever holds what is durable, nothing has to tell it of changes, a crash leaves
// nothing to mend, and a host in which nobody searches never opens it.
//
// What is found for a chat, and its score, depends on the rows of that chat
// alone. An [Index] is safe for concurrent use. One process at a time may use
// the file; the lock of the store sees to that.
package searchindex
