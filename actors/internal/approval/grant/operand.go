package grant

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/shipmyagent/shipmyagent/messages/secretfile"
)

// protected are the names that no operand may have, without regard to case.
type protected struct {
	names    map[string]bool // folded
	prefixes map[string]bool // folded, all of those without a leading dot
	firsts   [256]bool       // the first bytes that any of them may have in any case
	longest  int             // of the names as they may be written, in bytes
}

func protect(names []string) protected {
	p := protected{names: map[string]bool{}, prefixes: map[string]bool{}}
	for _, name := range names {
		if name == "" {
			continue // an error that the policy reports
		}
		first, _ := utf8.DecodeRuneInString(name)
		p.firsts[name[0]] = true
		for r := unicode.SimpleFold(first); r != first; r = unicode.SimpleFold(r) {
			p.firsts[string(r)[0]] = true
		}
		p.names[fold(name)] = true
		p.longest = max(p.longest, utf8.UTFMax*utf8.RuneCountInString(name))
		if first != '.' {
			for i := range name {
				p.prefixes[fold(name[:i])] = true
			}
			p.prefixes[fold(name)] = true
		}
	}
	return p
}

// fold normalises the case of a text: texts that differ only in case become equal.
func fold(text string) string { return string(appendFolded(nil, text)) }

func appendFolded(to []byte, text string) []byte {
	for _, r := range text {
		switch {
		case 'a' <= r && r <= 'z':
			r -= 'a' - 'A' // the smallest of its kind, as below
		case r >= utf8.RuneSelf:
			least := r
			for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
				least = min(least, f)
			}
			r = least
		}
		to = utf8.AppendRune(to, r)
	}
	return to
}

// has reports whether a part is a protected name.
func (p *protected) has(part string) bool {
	if part == "" || len(part) > p.longest || !p.firsts[part[0]] {
		return false
	}
	var buf [64]byte
	return p.names[string(appendFolded(buf[:0], part))]
}

// begins reports whether a protected name starts with a text. For names with a leading dot, the
// text must contain that dot.
func (p *protected) begins(prefix string) bool {
	if len(p.prefixes) == 0 || len(prefix) > p.longest {
		return false
	}
	var buf [64]byte
	return p.prefixes[string(appendFolded(buf[:0], prefix))]
}

// allow reports whether an operand may be covered by the open end of a rule: a relative path or a
// name that refers to nothing else.
func (p *protected) allow(w word) bool {
	if !plainStart(w) || orders(w.text) {
		return false
	}
	start := 0
	for start <= len(w.text) {
		end := start
		for end < len(w.text) && w.text[end] != '/' && w.text[end] != ':' {
			end++
		}
		rest := w.text[end:]
		if strings.HasPrefix(rest, "::") || strings.HasPrefix(rest, "://") || !p.allowPart(w, start, end) {
			return false
		}
		start = end + 1
	}
	return true
}

// plainStart checks the start of an operand: it must not become an option, an absolute path, or, by
// a glob, a hidden name.
func plainStart(w word) bool {
	if w.text == "" {
		return false
	}
	first := rune(w.text[0])
	if first >= utf8.RuneSelf {
		first, _ = utf8.DecodeRuneInString(w.text)
	}
	switch {
	case unicode.IsLetter(first), first == '_', '0' <= first && first <= '9':
		return true
	case first == '.':
		return w.static() || strings.HasPrefix(w.text, "./")
	default:
		return false
	}
}

// orders reports whether an operand may be a command to some programs: a command that starts with a
// dot, as in sqlite3, or an address that starts a program, as in socat.
func orders(operand string) bool {
	scheme, _, found := strings.Cut(operand, ":")
	if found && slices.Contains([]string{"exec", "system", "shell", "pty", "open", "create", "script", "ext", "fd"}, strings.ToLower(scheme)) {
		return true
	}
	if len(operand) < 2 || operand[0] != '.' || operand[1] == '/' || operand[1] == '.' {
		return false
	}
	return strings.ContainsAny(operand, " \t\n") ||
		slices.Contains([]string{".shell", ".system", ".sh", ".read", ".import", ".load", ".once", ".output", ".excel", ".archive", ".open", ".save", ".backup", ".restore", ".clone", ".log", ".trace", ".cd", ".dump", ".exit", ".quit"}, operand)
}

// allowPart checks one part between slashes and colons.
func (p *protected) allowPart(w word, start, end int) bool {
	part := w.text[start:end]
	if part == ".." || (len(part) >= 5 && strings.EqualFold(part[:5], ".env.")) {
		return false
	}
	if w.static() {
		return !p.secret(part)
	}
	first, _ := slices.BinarySearch(w.globs, uint16(start)) //nolint:gosec // texts are shorter
	if first == len(w.globs) || int(w.globs[first]) >= end {
		return !p.secret(part)
	}
	// A glob may match a name if the text before it is a prefix of the name.
	return part[0] != '.' && !p.begins(part[:int(w.globs[first])-start]) && !secretfile.Glob(secretfile.Fold(part))
}

// secret reports whether a part is a name of the policy, or of the list that commands and file
// tools obey as well.
func (p *protected) secret(part string) bool {
	return p.has(part) || secretfile.Protected(secretfile.Fold(part))
}

// pathspec reports whether git may read a pattern, or magic, in an operand. It expands those
// itself, quoted or not, in all folders and in all stored revisions.
func pathspec(operand string) bool { return strings.ContainsAny(operand, `*?[\`) || operand[:1] == ":" }

// allowValue reports whether the value of an option names nothing protected, directly or as a
// pattern. Names that the option excludes are allowed.
func (p *protected) allowValue(option, value string) bool {
	if strings.HasPrefix(option, "--exclude") {
		return true
	}
	for part := range strings.FieldsFuncSeq(value, func(c rune) bool { return strings.ContainsRune("/:=,{}() \t", c) }) {
		if p.secret(part) || secretfile.Glob(secretfile.Fold(part)) {
			return false
		}
	}
	return true
}
