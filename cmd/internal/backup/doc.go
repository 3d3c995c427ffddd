// Package backup copies a project and its state while a host runs, and puts a copy back.
//
// A chat is several files that its host changes one after the other, so it is copied in a moment in which none of them
// changes: they are listed before and after, with their sizes and times, and copied again if the lists differ. What a
// copy holds of a chat is what a host that was killed at that moment would have left. The other files are replaced
// whole or only grow, so each is copied as it is.
//
// A backup is a folder with the files and a list of them, which is written last: without the end of the list a backup
// is not complete, and nothing is restored from it. Every file has its SHA-256 in the list. A restore checks all of
// them before it writes anything, never replaces a file, and puts the state into place last, in one step.
package backup
