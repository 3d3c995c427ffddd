// Package messages holds what actors say to each other, one file per receiver,
// and the ids they say it with.
//
// A message is a struct sent by value and never changed after sending: it holds
// no pointers, channels, functions or contexts, and its slices are handed over,
// not kept. Each carries its correlation ids and says so.
package messages
