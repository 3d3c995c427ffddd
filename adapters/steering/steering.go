// Package steering knows the files of a project that programs of people obey without
// asking: settings and hooks of version stores, editors, assistants and shells. It is the
// only such list: commands in a sandbox cannot change these files, nor make them, and the
// file tools say what they are.
package steering

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/messages/secretfile"
)

// gitFolder is the version store whose programs run what its settings name.
const gitFolder = ".git"

// maxPointer is the most that is read of a file that says where a version store is.
const maxPointer = 4 << 10

// Names are the files and folders that a project may have at its top.
func Names() []string {
	return []string{
		gitFolder, ".claude", ".codex", ".cursor", ".devcontainer", ".envrc", ".gemini", ".husky", ".idea", ".mcp.json", ".vscode", ".zed",
	}
}

// Named says that a part of a path has one of these names, however it is spelled.
func Named(part string) bool { return slices.Contains(Names(), secretfile.Fold(part)) }

// Within are the paths to keep as they are for one that is named like that: itself, or
// what steers git in a version store. What does not exist is among them where git would
// obey it if it did.
func Within(path string) []string {
	if secretfile.Fold(filepath.Base(path)) != gitFolder {
		return []string{path}
	}
	info, err := os.Lstat(path)
	switch {
	case err == nil && info.IsDir():
		return ofStore(path, filepath.Dir(path))
	case err == nil && info.Mode().IsRegular():
		return append([]string{path}, pointed(path)...)
	}
	return []string{path}
}

// ofStore is what steers git in a version store, and in its working folder by the settings of the
// store. The stores of submodules and of other working folders are kept whole.
func ofStore(dir, work string) []string {
	out := []string{filepath.Join(dir, "config"), filepath.Join(dir, "hooks"), filepath.Join(dir, "info")}
	for _, name := range []string{"config.worktree", "commondir", "modules", "worktrees"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			out = append(out, filepath.Join(dir, name))
		}
	}
	for _, name := range []string{"config", "config.worktree"} {
		out = append(out, led(filepath.Join(dir, name), work)...)
	}
	return out
}

// pointed is what steers git in the version store that a file named .git leads to.
func pointed(file string) []string {
	f, err := os.Open(file) //nolint:gosec // it is read for one line, and only a path is taken from it
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // nothing was written
	text := make([]byte, maxPointer)
	n, _ := f.Read(text) // nothing read is not a pointer
	line, _, _ := bytes.Cut(text[:n], []byte("\n"))
	to, ok := strings.CutPrefix(string(line), "gitdir:")
	if to = strings.TrimSpace(to); !ok || to == "" {
		return nil
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(filepath.Dir(file), to)
	}
	if info, err := os.Stat(to); err != nil || !info.IsDir() {
		return nil
	}
	return ofStore(to, filepath.Dir(file))
}

// Appears says that a path is one that git would obey and that no version store has when
// nobody works on it: the pointer to settings elsewhere. It cannot be kept from being
// made, since git would fail on anything in its place.
func Appears(path string) bool {
	dir, name := filepath.Split(path)
	return (name == "commondir" || name == "config.worktree") && secretfile.Fold(filepath.Base(dir)) == gitFolder
}
