//go:build !race

package filestore

// racing: memory is that of the race detector, too.
const racing = false

// hugeText is the length of the long text in a history; the race detector looks
// at every byte of it many times.
const hugeText = 64 << 20
