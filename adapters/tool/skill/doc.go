// Package skill finds skills, which are folders with a SKILL.md that says how to do something, and has the tools
// skills_list and skills_load.
//
// Only the folders of the [Catalog] are read, and nothing in them is executed: a skill is text, and its scripts are
// files that other tools may run. A skill is left out if a link leads out of its folder or of the folder of skills,
// or if anything else is wrong with it; it is then reported as a [Problem] with file, line and a hint.
//
// A skill is identified by the digest of its whole folder. The first load needs the approval of a person for that
// digest; from then on the skill loads without approval until something in its folder changes. The text that a chat
// gets is the one that was read for the digest, never a file that was read later.
package skill
