// Package box is what sandboxes share: what a program will see, worked out from
// its [sandbox.Spec] (Plan), how much it may use (limits, cgroups) and how it
// lives and dies (Start). What draws the walls is left to the implementations:
// a Build makes the process, blocked before it runs anything of the program's,
// and the box bounds it, releases it, waits for it and takes all of it down.
package box
