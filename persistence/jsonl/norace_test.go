//go:build !race

package jsonl

// racing: memory is that of the race detector, too.
const racing = false
