// Package kin releases the memory of children that have ended. The actor library keeps the place of
// an ended child in its list of children, and with it everything that the child referenced, until
// another child takes that place: a parent that once had many children would never become small
// again.
package kin

import "github.com/asynkron/protoactor-go/actor"

// Forget is called by a parent for every Terminated of a child.
func Forget(ac actor.Context) {
	children := ac.Children() // the library's own list, without the child
	if n := len(children); n < cap(children) {
		children[:n+1][n] = nil
	}
}
