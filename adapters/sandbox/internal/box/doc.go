// Package box is the common part of the sandboxes: what a program sees according to its [sandbox.Spec] (Plan), how
// much it may use (limits, cgroups), and its start and end (Start). The implementations provide the isolation: a
// Build makes the process, blocked before it runs anything of the program, and the box limits it, releases it, waits
// for it and kills everything that is left.
package box
