// Package hold keeps a program from ever getting at other bytes than those that
// are pinned. A pin is a mount over a file's name, and the kernel takes it away
// when somebody outside of the sandbox gives the name to another file. So every
// system call of the program that opens or executes by name is shown to the host
// first (seccomp), and one that may find a pinned name is also held at its end,
// before the program goes on (ptrace). Both times the host looks whether all
// pins lie where they were laid and whether any of their names was ever changed;
// if so the program is killed where it stands.
//
// Why nothing gets by: a change that is still in effect when the host looks shows
// in the names, and one that was undone meanwhile is on record, as the kernel
// tells of a change before it lets go of the folder that it was made in, and undoing
// it needs that folder. So when the host finds nothing, every name that was looked
// up until then led where it should.
//
// Install is called in the sandbox by what is about to become the program, Meet
// by the host.
package hold
