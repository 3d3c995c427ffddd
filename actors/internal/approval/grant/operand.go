package grant

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// plain says whether an operand that no rule spells out may be covered by its
// open end: a relative path or a name that leads nowhere else.
func plain(w word, protected []string) bool {
	if !plainStart(w) || strings.Contains(w.text, "://") || strings.Contains(w.text, "::") {
		return false
	}
	start := 0
	for start <= len(w.text) {
		end := len(w.text)
		if n := strings.IndexAny(w.text[start:], "/:"); n >= 0 {
			end = start + n
		}
		if !plainPart(w, start, end, protected) {
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
func plainPart(w word, start, end int, protected []string) bool {
	part := w.text[start:end]
	if part == ".." || (len(part) >= 5 && strings.EqualFold(part[:5], ".env.")) {
		return false
	}
	first, _ := slices.BinarySearch(w.globs, start)
	globbed := first < len(w.globs) && w.globs[first] < end
	if globbed && part[0] == '.' {
		return false
	}
	return !slices.ContainsFunc(protected, func(name string) bool {
		if !globbed {
			return strings.EqualFold(part, name)
		}
		// A glob may match the name if what stands before it begins the name. Names
		// with a dot in front need that dot spelled out.
		prefix := part[:w.globs[first]-start]
		return name[0] != '.' && len(prefix) <= len(name) && strings.EqualFold(prefix, name[:len(prefix)])
	})
}
