// Package backoff has the wait between retries that all actors share. It is a pure function of the
// number of failures, because an actor keeps that number in its own state; a library object that
// counts by itself would have to be stored, reset and copied too.
package backoff

import "time"

// Exponential is a wait that doubles with every failure.
type Exponential struct{ First, Longest time.Duration }

// Wait is the wait after so many failures in a row, doubled once per failure; with none it is
// First.
func (e Exponential) Wait(failures int) time.Duration {
	wait := e.First
	for range failures {
		if wait >= e.Longest {
			break
		}
		wait *= 2
	}
	return min(wait, e.Longest)
}
