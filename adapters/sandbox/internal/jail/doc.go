// Package jail is the process between the host and a program that no other tool
// contains: the host's own binary, executed anew in fresh namespaces, where it is
// the first process. It puts up what the program sees, waits until the host has
// bounded it, takes its own powers away on the thread that starts the program,
// reaps what the program leaves, and with its end everything ends.
package jail
