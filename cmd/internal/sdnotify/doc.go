// Package sdnotify tells a service manager how the process is: that it is ready, that it works, what it is doing and
// that it stops. It speaks the protocol of sd_notify(3), by which systemd and others follow services of the type
// notify. In a process that no such manager started it does nothing and returns no error.
//
// The watchdog is fed with what a [Health] says and by nothing else: a process that still runs but does not work any
// more is not fed, so the manager restarts it.
package sdnotify
