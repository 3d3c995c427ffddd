// Package searchindex finds turns by their words: full text over the history of chats and over its
// archives, including Chinese, Japanese and Korean. The index is one SQLite file without data of
// its own: it is built from the files of the chats and may be deleted at any time.
//
// A search first updates the index from the files of the chats that it is about, and reads each
// result from its file. So the index only contains durable data, needs no notice of changes and no
// repair after a crash, and is never opened if no one searches.
//
// The results for a chat, and their scores, depend on the rows of that chat alone. An [Index] is
// safe for concurrent use. Only one process at a time may use the file; the lock of the store
// ensures that.
package searchindex
