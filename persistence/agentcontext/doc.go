// Package agentcontext stores the run logs of chats in files of JSON lines, one for each chat. It is
// safe for concurrent use.
//
// One goroutine writes, a chat's entries of a few seconds together and without an fsync: a crash may
// lose the newest entries, and a partly written one is skipped when the file is read. Readers get
// all entries that were added before. A file with about twice the wanted number of entries is
// replaced atomically: the older half becomes one summary, so neither the file nor the work for one
// entry grows with the age of a chat.
package agentcontext
