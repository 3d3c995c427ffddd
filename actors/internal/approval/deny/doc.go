// Package deny checks commands against the operator's prohibitions. Unlike grants, it errs on the side of refusing: a
// command that might run a forbidden program is refused.
//
// A rule names a program and words that must occur with it, in any order and together with anything else. A command is
// refused if the program may run anywhere in it: in chains, substitutions, functions and subshells, as an argument of
// a program that starts others, in text for shells and interpreters, under any path and any spelling of its name. If a
// word is only known at run time, or a shell reads commands that are not in the text, the rules cannot be checked and
// the command is refused as well.
//
// Only the text is checked, not its effects: what a script or another program does by itself is not seen. Everything
// is pure and safe for concurrent use.
package deny
