// Package messages contains the messages that actors send to each other, one file per
// receiver, and the ids in them.
//
// A message is a struct that is sent by value and never changed after sending. It has no
// pointers, channels, functions or contexts, and the sender does not keep its slices. Each
// has its correlation ids, and its comment names them.
package messages
