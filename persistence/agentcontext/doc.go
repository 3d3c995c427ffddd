// Package agentcontext stores the run logs of chats in files of JSON lines, one for each chat. It is
// safe for concurrent use.
//
// One goroutine writes, in the order in which entries were added, without an fsync: a crash may
// lose the newest entries, and a partly written one is skipped when the file is read. A file with
// twice the wanted number of entries is replaced atomically: the older half becomes one summary, so
// neither the file nor the work for one entry grows with the age of a chat.
package agentcontext
