// Package bubblewrap contains programs with bwrap of the bubblewrap project, which is available on many systems. It
// needs no privileges if the kernel lets users create namespaces. It needs a version with --bind-fd, --disable-userns
// and --size: 0.10, or an older one with the fixes of a distributor. It cannot distinguish a death by a signal from
// the exit codes over 128 that shells use for it.
package bubblewrap
