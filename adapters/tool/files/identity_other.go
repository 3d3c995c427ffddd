//go:build !unix

package files

import "io/fs"

// identify tells nothing here: names of files are all that is known.
func identify(fs.FileInfo) (id identity, count uint64, ok bool) { return identity{}, 0, false }
