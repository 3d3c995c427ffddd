// Package kin lets go of children that are gone. The actor library keeps the place
// of a child that ended in its list of children, and with it all that the child
// held, until another child takes that place: a parent that once had many children
// would never be small again.
package kin

import "github.com/asynkron/protoactor-go/actor"

// Forget is called by a parent for every Terminated of a child.
func Forget(ac actor.Context) {
	children := ac.Children() // the library's own list, from which the child was taken
	if n := len(children); n < cap(children) {
		children[:n+1][n] = nil
	}
}
