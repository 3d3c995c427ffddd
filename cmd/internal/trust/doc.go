// Package trust remembers, outside of every project, what its owner agreed to that the
// settings of a folder reach outside of it: one digest of [config.Reach]es for a folder.
// A folder that came from others can change everything in it, and nothing here.
package trust
