// Package profiles serves profiles of the process over HTTP: they show what it works on, so only whoever may read its
// memory may reach them.
package profiles
