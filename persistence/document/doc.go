// Package document keeps small documents: what the host remembers beside the chats, each in a
// file that people can read, such as grants, agreements to skills, memories and tasks.
//
// Promises: a nil error of a write means durable, including the names of folders that were
// made for it. After a crash or an error a file holds the old or the new content as a whole;
// at most a temporary file is left, which the next write replaces. Files have mode 0600 and
// folders 0700, whatever the umask. A document that cannot be read is never overwritten: the
// error says so, and the file stays for a person to look at.
//
// A [Lock] orders the changes of several goroutines and processes. Without one, one caller at a
// time writes a file; different files may be written at once.
package document
