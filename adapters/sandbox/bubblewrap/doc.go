// Package bubblewrap contains programs with bwrap of the bubblewrap project,
// which many systems have, and which works without any powers where the kernel
// lets users have namespaces. A version with --bind-fd, --disable-userns and
// --size is needed: 0.10, or an older one with its distributor's fixes. An end by
// a signal and the exit codes over 128 that shells give to it are told apart by
// nobody here.
package bubblewrap
