// Package faketest is what the fakes of services share: faults, a client without a socket, a pipe and a proxy in the
// place of a network, and waiting for a state.
//
// Everything listens on loopback only and is safe for concurrent use. Nothing here waits by the clock: conditions are
// waited for, with a deadline that fails the test.
package faketest
