//go:build race

package filestore

// racing is set with the race detector, which uses memory too.
const racing = true

// hugeText is the length of the long text in a history; the race detector looks
// at every byte of it many times.
const hugeText = 4 << 20
