//go:build !linux

package nametree_test

import "os"

// exchange gives two folders each other's names. One may be inside the other, and then nothing changes.
func exchange(a, b string) {
	if os.Rename(a, a+".moved") != nil {
		return
	}
	if os.Rename(b, a) != nil {
		_ = os.Rename(a+".moved", a) // as it was
		return
	}
	_ = os.Rename(a+".moved", b) // the folder of b is still there
}
