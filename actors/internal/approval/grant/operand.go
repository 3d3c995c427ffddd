package grant

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/shipmyagent/shipmyagent/messages/secretfile"
)

// protected are the names that operands must not contain, ignoring case.
type protected struct {
	names    map[string]bool // in lower case
	prefixes map[string]bool // lower-case prefixes of all names that do not start with a dot
	firsts   [256]bool       // possible first bytes of the names in any case
	longest  int             // length of the longest possible spelling of a name, in bytes
}

func protect(names []string) protected {
	p := protected{names: map[string]bool{}, prefixes: map[string]bool{}}
	for _, name := range names {
		first, _ := utf8.DecodeRuneInString(name)
		p.firsts[name[0]] = true
		for r := unicode.SimpleFold(first); r != first; r = unicode.SimpleFold(r) {
			p.firsts[string(r)[0]] = true
		}
		p.names[lower(name)] = true
		p.longest = max(p.longest, utf8.UTFMax*utf8.RuneCountInString(name))
		if first != '.' {
			for i := range name {
				p.prefixes[lower(name[:i])] = true
			}
			p.prefixes[lower(name)] = true
		}
	}
	return p
}

// lower returns a text in a form that is equal for texts that differ only in case.
func lower(text string) string { return string(appendLower(nil, text)) }

func appendLower(to []byte, text string) []byte {
	for _, r := range text {
		switch {
		case 'a' <= r && r <= 'z':
			r -= 'a' - 'A' // the smallest rune of its kind, as below
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
	return p.names[string(appendLower(buf[:0], part))]
}

// begins reports whether a protected name starts with a text. Names that start with a dot do not count, because globs
// do not match that dot.
func (p *protected) begins(prefix string) bool {
	if len(p.prefixes) == 0 || len(prefix) > p.longest {
		return false
	}
	var buf [64]byte
	return p.prefixes[string(appendLower(buf[:0], prefix))]
}

// allow reports whether the open end of a rule may cover an operand: a relative path or name that does not lead
// elsewhere.
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

// plainStart reports whether an operand begins so that it cannot be an option or an absolute path, nor become a hidden
// name through a glob.
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

// orders reports whether some programs read an operand as a command and not as a name: a command that starts with a
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

// allowPart checks one part of an operand between slashes and colons.
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
	// A glob may match a protected name if the text before the glob is a prefix of the name.
	return part[0] != '.' && !p.begins(part[:int(w.globs[first])-start]) && !secretfile.Glob(secretfile.Normalize(part))
}

// secret reports whether a part is a protected name of the policy or is in the list that commands and file tools also
// use.
func (p *protected) secret(part string) bool {
	return p.has(part) || secretfile.Protected(secretfile.Normalize(part))
}

// pathspec reports whether git may read an operand as a pattern or as pathspec magic. Git expands these itself, even
// if quoted, in all folders and in everything that it has stored.
func pathspec(operand string) bool { return strings.ContainsAny(operand, `*?[\`) || operand[:1] == ":" }

// allowValue reports whether the value of an option contains no protected name and no pattern that could match one.
// Options that exclude files may name anything.
func (p *protected) allowValue(option, value string) bool {
	if strings.HasPrefix(option, "--exclude") {
		return true
	}
	for part := range strings.FieldsFuncSeq(value, func(c rune) bool { return strings.ContainsRune("/:=,{}() \t", c) }) {
		if p.secret(part) || secretfile.Glob(secretfile.Normalize(part)) {
			return false
		}
	}
	return true
}
