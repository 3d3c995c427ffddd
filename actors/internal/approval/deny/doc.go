// Package deny holds commands against the operator's prohibitions. It errs to the other
// side than grants do: what might run a forbidden program is refused.
//
// A rule names a program and words that have to occur with it, in any order and with
// anything else beside them. A command is refused when the program may run anywhere in
// it: in chains, substitutions, functions and subshells, behind programs that start
// others, in texts for shells and interpreters, under any path and any spelling of its
// name. Where a word is only known at run time, or a shell reads commands that are not in
// the text, the rules cannot be held, and the command is refused as well.
//
// It judges texts, not effects: what a script or another program does by itself is not
// seen. Everything is pure and safe for concurrent use.
package deny
