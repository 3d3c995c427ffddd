// Package grantfile keeps the timed grants of chats in files, one for each chat that
// has any: what commands a person let run without asking, and until when.
//
// Promises: a nil error of a save means durable; after a crash the old or the new
// grants are there, whole. A file that cannot be read is an error, never half of its
// grants. Files are 0600 in folders 0700. One process writes at a time, and of each
// chat one caller; whose grants count, and when they end, is the chat's business.
package grantfile
