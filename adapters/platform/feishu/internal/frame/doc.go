// Package frame encodes and decodes the frames of Feishu's long connection, and assembles events that
// arrive in several of them.
//
// It promises that a decoded frame can be sent back as it arrived, including fields that it does not
// know, that no input makes it panic, and that incomplete events occupy bounded memory.
package frame
