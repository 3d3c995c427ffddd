// Package filestoretest is a disk for tests of the file store: it tracks what is written apart from
// what is durable, and can produce every state that a power cut may leave. It has no goroutines, no
// clock and no dependence on map order: the same calls and the same choices give the same disk.
//
// # What is durable
//
//   - The contents and the size of a file: after Datasync of that file.
//   - A name (made, renamed, removed): after SyncDir of the folder it is in.
//     Forcing a file says nothing of its name, and the name of a folder is in the
//     folder above it.
//
// # Which states are legal
//
// Everything else may be there, not be there, or be there in part:
//
//   - Contents reach the disk in pages of 4 KiB, each on its own and in any
//     order. A page has one of the contents it had since the last force, or is
//     torn between two of them at a multiple of 512 bytes: a disk promises whole
//     sectors and nothing more.
//   - The sizes of one file reach the disk in their order. A size may be there
//     before the pages it covers; these read as zeros. What was written to pages
//     that a cut gave up goes to other places of the disk, so it never shows
//     under a size from before the cut.
//   - Names of all folders reach the disk in the order of the operations, as
//     with a file system that has a journal; or any of them without the others,
//     as POSIX allows. A rename happens whole or not at all. Names and contents
//     know nothing of each other: a renamed file may be empty.
//   - A Datasync that fails has written any part of what it should have, and the
//     machine takes that for clean: no later force writes it again, although
//     reading shows it until the file is read anew or the power is gone. Names
//     are kept by a journal that tries again or stops altogether, so after a
//     SyncDir that failed the next one counts.
//
// The end of a process loses nothing that was written, see [Disk.Kill]; a power cut is
// [Disk.Crash].
package filestoretest
