// Package jail is the process between the host and the program if no other tool isolates the program. It is the
// host's own binary, executed again as the first process in new namespaces. It sets up what the program sees, waits
// until the host has limited it, drops the privileges of the thread that starts the program, and reaps orphaned
// processes. When it ends, all processes of the sandbox end.
package jail
