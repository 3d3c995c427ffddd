package sandbox

import (
	"os"
	"path/filepath"
)

// Find is the absolute path of a program in the folders of a PATH, or "" if it is not installed. A name that is an
// absolute path already is returned as it is.
func Find(program, path string) string {
	if filepath.IsAbs(program) {
		return program
	}
	for _, dir := range filepath.SplitList(path) {
		if full := filepath.Join(dir, program); filepath.IsAbs(full) && IsProgram(full) {
			return full
		}
	}
	return ""
}

// IsProgram reports whether a file is executable.
func IsProgram(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
