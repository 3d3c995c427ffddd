// Package deny checks commands against the operator's prohibitions. Grants are strict about what
// they cover; prohibitions are strict the other way: what might run a forbidden program is refused.
//
// A rule names a program and words that have to occur with it, in any order and among any others. A
// command is refused if the program may run anywhere in it: in chains, substitutions, functions and
// subshells, as an argument of programs that start others, in texts for shells and interpreters,
// under any path and any spelling of its name. If a word is only known at run time, or a shell
// reads commands that are not in the text, the rules cannot be checked, and the command is refused
// as well.
//
// It checks texts, not effects: what a script or another program does by itself is not seen.
// Everything is pure and safe for concurrent use.
package deny
