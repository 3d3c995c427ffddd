package grant

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// protected are the names that no operand may have, without regard to case.
type protected struct {
	names  []string
	firsts map[rune]bool // what any of them may begin with in any case
}

func protect(names []string) protected {
	p := protected{names: names, firsts: map[rune]bool{}}
	for _, name := range names {
		first, _ := utf8.DecodeRuneInString(name)
		p.firsts[first] = true
		for r := unicode.SimpleFold(first); r != first; r = unicode.SimpleFold(r) {
			p.firsts[r] = true
		}
	}
	return p
}

// has says whether a part is a protected name.
func (p protected) has(part string) bool {
	first, _ := utf8.DecodeRuneInString(part)
	return p.firsts[first] && slices.ContainsFunc(p.names, func(name string) bool { return strings.EqualFold(part, name) })
}

// begins says whether a protected name begins with a text. Names with a dot in front
// need that dot spelled out.
func (p protected) begins(prefix string) bool {
	return slices.ContainsFunc(p.names, func(name string) bool {
		return name[0] != '.' && len(prefix) <= len(name) && strings.EqualFold(prefix, name[:len(prefix)])
	})
}

// plain says whether an operand that no rule spells out may be covered by its
// open end: a relative path or a name that leads nowhere else.
func plain(w word, names protected) bool {
	if !plainStart(w) || strings.Contains(w.text, "://") || strings.Contains(w.text, "::") {
		return false
	}
	start := 0
	for start <= len(w.text) {
		end := len(w.text)
		if n := strings.IndexAny(w.text[start:], "/:"); n >= 0 {
			end = start + n
		}
		if !plainPart(w, start, end, names) {
			return false
		}
		start = end + 1
	}
	return true
}

// plainStart holds the beginning of an operand against the rules: what may not
// become an option, an absolute path, or a hidden name by a glob.
func plainStart(w word) bool {
	first, _ := utf8.DecodeRuneInString(w.text)
	switch {
	case w.text == "":
		return false
	case unicode.IsLetter(first), first == '_', '0' <= first && first <= '9':
		return true
	case first == '.':
		return w.static() || strings.HasPrefix(w.text, "./")
	default:
		return false
	}
}

// plainPart holds one part between slashes and colons against the rules.
func plainPart(w word, start, end int, names protected) bool {
	part := w.text[start:end]
	if part == ".." || (len(part) >= 5 && strings.EqualFold(part[:5], ".env.")) {
		return false
	}
	first, _ := slices.BinarySearch(w.globs, start)
	if first == len(w.globs) || w.globs[first] >= end {
		return !names.has(part)
	}
	// A glob may match a name if what stands before it begins the name.
	return part[0] != '.' && !names.begins(part[:w.globs[first]-start])
}
