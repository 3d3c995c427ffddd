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
	// maxWords bounds what is shown of a program's last words.
	maxWords = 400
	// maxWordLines is how many lines of them are shown.
	maxWordLines = 3
)

// startError is how a program ended that was to be a server, with what it said last and
// what it was allowed.
type startError struct {
	what  string
	words []string
	spec  sandbox.Spec
}

// Error implements error.
func (e *startError) Error() string { return e.what }

// explain says why a program ended, in our words and its own, and what the operator may
// do if it was something that we keep from it.
func (c *client) explain(e *startError) (why, help string) {
	why = c.server.line(e.what)
	if words := lastWords(e.words); words != "" {
		why += "; its last words: “" + words + "”"
	}
	return why, c.wall(e.spec, e.words)
}

// lastWords are the lines that say most of why a program ended, as one line. Everything
// in them is the program's own.
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

// wall says what a program wanted and was kept from, by its last words: a file that
// there is on this machine, or the network. It is for the operator alone: a program
// could ask by its words which files there are.
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

// covers says that a path is one of those that were granted or lies in it, by either name.
func covers(granted []string, path string) bool {
	return slices.ContainsFunc(granted, func(g string) bool { return under(path, g) || under(realPath(path), realPath(g)) })
}

// isSystem says that a path is one that all programs see, or would find missing anywhere.
func isSystem(path string) bool {
	return slices.ContainsFunc([]string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store", "/etc", "/proc", "/dev", "/sys", "/tmp"}, func(dir string) bool {
		return under(path, dir) && (dir != "/tmp" || path == dir)
	})
}
