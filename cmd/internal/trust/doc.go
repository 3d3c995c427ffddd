// Package trust remembers, outside of every project, what its owner agreed to that the
// settings of a folder reach outside of it: one digest of [config.Reach]es for a folder.
// A folder from others can change everything inside of itself, and nothing here.
package trust
