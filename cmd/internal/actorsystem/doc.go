// Package actorsystem is what the host needs around the actor library: goroutines that are reused, a smaller process
// registry, and counts and logs of what goes wrong between actors. Logs name kinds of messages and never their
// contents. The package does not know what the actors are for.
package actorsystem
