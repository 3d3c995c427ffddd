package steering

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

const (
	// maxSettings is the most that is read of a file with settings of git, in bytes.
	maxSettings = 1 << 20
	// maxIncluded is how many files with settings are followed.
	maxIncluded = 50
)

// led are the files and folders of a working folder from which the settings in a file make git take hooks and further
// settings. People keep these in the project to share them, as with core.hooksPath=.githooks. Those outside of the
// working folder are not among them, nor those in the store itself, which are kept anyway.
func led(settings, work string) []string {
	var out []string
	files := []string{settings}
	for i := 0; i < len(files) && i < maxIncluded; i++ {
		for _, s := range settingsOf(files[i]) {
			from := work
			if s.includes {
				from = filepath.Dir(files[i])
			}
			path := s.path
			if !filepath.IsAbs(path) {
				path = filepath.Join(from, path)
			}
			if !among(path, work) || slices.Contains(out, path) {
				continue
			}
			out = append(out, path)
			if s.includes {
				files = append(files, path)
			}
		}
	}
	return out
}

// among reports whether a path is below a working folder and not in its store.
func among(path, work string) bool {
	rel, err := filepath.Rel(work, path)
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return false
	}
	first, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
	return first != gitFolder
}

// pathSetting is a setting of git that names hooks or, if it includes, further settings.
type pathSetting struct {
	path     string
	includes bool
}

// settingsOf reads these settings from a file, without those that begin at a home or where git is installed. A file that
// cannot be read has none, for git, too.
func settingsOf(file string) []pathSetting {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0) //nolint:gosec // only paths are taken from it; a pipe would block
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // nothing was written
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(f, maxSettings))
	if err != nil {
		return nil
	}
	var out []pathSetting
	section := ""
	for line := range strings.Lines(strings.ReplaceAll(string(text), "\\\n", "")) {
		line = strings.TrimSpace(line)
		if head, rest, ok := strings.Cut(line, "]"); ok && strings.HasPrefix(line, "[") {
			name, _, _ := strings.Cut(strings.TrimSpace(head[1:]), " ") // without the condition of an include
			section, line = strings.ToLower(name), strings.TrimSpace(rest)
		}
		key, value, _ := strings.Cut(line, "=")
		key, value = strings.ToLower(strings.TrimSpace(key)), plain(value)
		includes := key == "path" && (section == "include" || section == "includeif")
		if value != "" && !strings.ContainsAny(value[:1], "~%") && (includes || section == "core" && key == "hookspath") {
			out = append(out, pathSetting{value, includes})
		}
	}
	return out
}

// plain is the value of a setting without its comment, quotes and escapes.
func plain(value string) string {
	var out strings.Builder
	quoted, escaped := false, false
	for _, r := range strings.TrimSpace(value) {
		switch {
		case escaped:
			out.WriteRune(r)
			escaped = false
		case r == '\\':
			escaped = true
		case r == '"':
			quoted = !quoted
		case !quoted && (r == '#' || r == ';'):
			return strings.TrimSpace(out.String())
		default:
			out.WriteRune(r)
		}
	}
	return strings.TrimSpace(out.String())
}
