// Package memfile keeps memories as Markdown files in the state folder:
//
//	memory/project.md                  of the project
//	memory/users/<userKey>.md          of a person
//	chat/<enc>/memory/Primary.md       of a chat
//	chat/<enc>/memory/extracted.json   how far facts were taken from its history
//	<the file's folder>/backup/        what a text was before it was condensed
//
// People edit these files too. A change is written to a new file, forced to the
// disk and renamed, and the folder is forced; one lock of the state folder orders
// the changes of all processes. An editor does not ask for the lock: what it saves
// in the very moment of a change may be lost.
package memfile
