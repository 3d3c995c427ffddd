package shell

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	// secretDepth is how deep below the workspace files named like secrets are
	// looked for, and secretMost how many entries are looked at.
	secretDepth = 4
	secretMost  = 5000
)

// secretName says that files of this name hold keys or passwords.
func secretName(name string) bool {
	name = strings.ToLower(name)
	exact := []string{
		".env", ".netrc", ".npmrc", ".pypirc", ".git-credentials", ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker",
		"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519",
	}
	return slices.Contains(exact, name) || strings.HasPrefix(name, ".env.") || strings.HasSuffix(name, ".pem") || strings.HasSuffix(name, ".key")
}

// secretBelow says that a path below the workspace is, or lies in, something that
// is named like a secret.
func secretBelow(root, path string) bool {
	rel, ok := strings.CutPrefix(path, root+"/")
	return ok && slices.ContainsFunc(strings.Split(rel, "/"), secretName)
}

// secrets are the files and folders of a workspace that are named like secrets.
// It looks a few folders deep: what lies deeper is a dependency's more often than
// the project's.
func secrets(root string) []string {
	var out []string
	seen := 0
	_ = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error { // what cannot be read hides itself
		if seen++; seen > secretMost {
			return fs.SkipAll
		}
		if err != nil {
			return skip(e)
		}
		rel := strings.TrimPrefix(path, root+"/")
		if path != root && secretName(e.Name()) {
			out = append(out, path)
			return skip(e)
		}
		if e.IsDir() && (e.Name() == ".git" || e.Name() == "node_modules" || path != root && strings.Count(rel, "/")+1 >= secretDepth) {
			return fs.SkipDir
		}
		return nil
	})
	return out
}

// skip goes on behind an entry.
func skip(e fs.DirEntry) error {
	if e != nil && e.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// present are the paths that exist.
func present(paths []string) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(p string) bool {
		_, err := os.Lstat(p)
		return err != nil
	})
}
