// Package memfile keeps memories as Markdown files in the state folder:
//
//	memory/project.md                  of the project
//	memory/users/<userKey>.md          of a person
//	chat/<enc>/memory/Primary.md       of a chat
//	chat/<enc>/memory/extracted.json   how far facts were extracted from its history
//	<the file's folder>/backup/        a text as it was before it was condensed
//
// People edit these files too. One lock of the state folder serialises the changes of all
// processes. Editors do not take it, so what one saves during a change may be lost.
package memfile
