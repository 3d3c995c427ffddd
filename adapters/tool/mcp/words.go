package mcp

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
)

const (
	// maxWords bounds how much of a program's last output is shown.
	maxWords = 400
	// maxWordLines is how many lines of it are shown.
	maxWordLines = 3
)

// startError describes the end of a program that did not work as a server, with its last output and its permissions.
type startError struct {
	what  string
	words []string
	spec  sandbox.Spec
}

func (e *startError) Error() string { return e.what }

// explain says why a program ended, including its last output, and advises the operator if the sandbox denied
// something.
func (c *client) explain(e *startError) (why, help string) {
	why = c.server.line(e.what)
	if words := lastWords(e.words); words != "" {
		why += "; its last words: “" + words + "”"
	}
	return why, c.wall(e.spec, e.words)
}

// lastWords selects the lines that best explain a program's end, as one line. All of it is the program's own text.
func lastWords(lines []string) string {
	noise := regexp.MustCompile(`^\s*at |^node:internal|^Node\.js v\d|^[\s^{}\[\]()]*$|^npm (notice|warn)|^npm error( \d+)?\s*(Note that|tarball, folder|$)|A complete log of this run`)
	var out []string
	for _, line := range slices.Backward(lines) {
		if noise.MatchString(line) {
			continue
		}
		out = append(out, clean(strings.Join(strings.Fields(line), " "), maxLine))
		if len(out) == maxWordLines {
			break
		}
	}
	slices.Reverse(out)
	return clean(strings.Join(out, " / "), maxWords)
}

// wall guesses from a program's last output what the sandbox denied: an existing file, or the network. The result is
// for the operator only, since a program could use it to find out which files exist.
func (c *client) wall(spec sandbox.Spec, lines []string) string {
	denied := regexp.MustCompile(`(?i)EROFS|EACCES|EPERM|read-only file|permission denied|not permitted`)
	for _, line := range slices.Backward(lines) {
		for _, path := range pathsIn(line) {
			switch {
			case slices.ContainsFunc(c.o.Hidden, func(hidden string) bool { return under(path, realPath(hidden)) || under(path, hidden) }):
				if !covers(spec.Own, path) {
					return fmt.Sprintf("it wanted %s, which no server may see", clean(path, maxLine))
				}
			case covers(slices.Concat(spec.Writable, spec.Own), path):
			case covers(spec.Readable, path):
				if denied.MatchString(line) {
					return fmt.Sprintf(`it wanted to change %s, which it may only read; if it may, name that in "write" of the server`, clean(path, maxLine))
				}
			case !isSystem(path):
				return fmt.Sprintf(`it wanted %s, which it may not read; if it may, name that in "read" of the server, or in "write"`, clean(path, maxLine))
			}
		}
	}
	network := regexp.MustCompile(`(?i)ENOTFOUND|EAI_AGAIN|ENETUNREACH|getaddrinfo|name resolution|resolve host|network is unreachable|dns error|ERR_INTERNET_DISCONNECTED`)
	text := strings.Join(lines, "\n")
	switch {
	case strings.Contains(text, "ENOTCACHED"):
		return fmt.Sprintf("it wanted a package that was not fetched; remove %s, and it is fetched anew", filepath.Dir(c.packages()))
	case !spec.Network && network.MatchString(text):
		return `it wanted the network, which it has not; if it may, write "network": true`
	}
	return ""
}

// pathsIn are the absolute paths in a text that exist on this machine.
func pathsIn(text string) []string {
	var out []string
	for _, found := range regexp.MustCompile("(?:^|[\\s'\"`(=:\\[])(/[^\\s'\"`()\\[\\],;:]+)").FindAllStringSubmatch(text, 8) {
		path := filepath.Clean(strings.TrimRight(found[1], "."))
		if _, err := os.Lstat(path); err == nil && path != "/" {
			out = append(out, path)
		}
	}
	return out
}

// covers reports whether a path is, or is inside, one of the granted paths, with or without links.
func covers(granted []string, path string) bool {
	return slices.ContainsFunc(granted, func(g string) bool { return under(path, g) || under(realPath(path), realPath(g)) })
}

// isSystem reports whether a path is one that all programs see, or that is missing for all.
func isSystem(path string) bool {
	return slices.ContainsFunc([]string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store", "/etc", "/proc", "/dev", "/sys", "/tmp"}, func(dir string) bool {
		return under(path, dir) && (dir != "/tmp" || path == dir)
	})
}
