// Package document stores small documents: data of the host outside the chats, each in a file that
// people can read, such as grants, skill approvals, memories and tasks.
//
// Promises: a nil error of a write means durable, including the names of folders that were made for
// it. After a crash or an error a file contains either the old or the new content, complete; at
// most a temporary file is left, which the next write replaces. Files have mode 0600 and folders
// 0700, regardless of the umask. A document that cannot be read is never overwritten: the error
// says so, and the file is left for a person to inspect.
//
// A [Lock] serialises the changes of several goroutines and processes. Without one, only one caller
// at a time may write a file; different files may be written concurrently.
package document
