// Package skill finds skills, folders with a SKILL.md that say how to do something,
// and has the tools skills_list and skills_load.
//
// Only the folders that a [Catalog] is made with are looked at, and nothing in them
// is run: a skill is text, and its scripts are files that other tools may run. A
// link that leads out of a skill's folder, or of the folder of skills, keeps the
// skill out, as does everything else that is wrong with it; what is left out is
// reported as a [Problem] with file, line and a hint.
//
// A skill is known by the digest of its whole folder. The first load asks a person,
// who agrees to that digest; from then on the skill loads without a question as
// long as nothing in its folder changes. The text that a chat gets is what was read
// together with the digest, never a file read later.
package skill
