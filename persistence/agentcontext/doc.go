// Package agentcontext keeps the run logs of chats as files, one of JSON lines
// for each chat.
//
// One goroutine writes, in the order in which entries were added, and forces
// nothing to the disk: a crash may lose the newest entries, and what it leaves half
// written is no entry and disturbs no other. A file that has twice the wanted
// number of entries is replaced in one step: the older half becomes one summary.
// So neither a file nor the work for one entry grows with the age of a chat.
package agentcontext
