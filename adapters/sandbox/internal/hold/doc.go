// Package hold prevents a program from reading other content than that of its pins. A pin is a mount over a file's
// name, and the kernel removes it when somebody outside of the sandbox gives the name to another file. Therefore
// every system call of the program that opens or executes by name is first passed to the host (seccomp), and a call
// that may find a pinned name is also stopped at its end, before the program continues (ptrace). Both times the host
// checks that all pins are in place and that none of their names was ever changed; otherwise it kills the program at
// this point.
//
// This is complete: a change that is still in effect during the check is visible in the names. A change that was
// undone is recorded, because the kernel reports it before it unlocks the folder, and undoing it needs that lock. So
// if the host finds nothing, every name that was looked up until then led to the right file.
//
// Install is called in the sandbox by the process that becomes the program, and Meet by the host.
package hold
