package config

import (
	"fmt"
	"reflect"
	"strings"
)

// Nearest returns the candidate that a person most likely meant by a word, or "".
func Nearest(word string, candidates []string) string {
	best, bestDistance := "", 1+max(1, min(len(word)/3, 3))
	for _, c := range candidates {
		d := editDistance(strings.ToLower(word), strings.ToLower(c))
		if d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// editDistance counts insertions, deletions, replacements and swaps of neighbors. Words longer than 64 characters are
// never similar.
func editDistance(a, b string) int {
	s, t := []rune(a), []rune(b)
	if len(s) > 64 || len(t) > 64 {
		return 64
	}
	rows := make([][]int, len(s)+1)
	for i := range rows {
		rows[i] = make([]int, len(t)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(s); i++ {
		for j := 1; j <= len(t); j++ {
			cost := 1
			if s[i-1] == t[j-1] {
				cost = 0
			}
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(s)][len(t)]
}

// unknownKey is the message about an unknown key of a block.
func unknownKey(block, name string, t reflect.Type) string {
	msg := fmt.Sprintf("unknown key %q in %s", shorten(name), block)
	if block == "" {
		msg = fmt.Sprintf("unknown key %q at the top", shorten(name))
	}
	var names []string
	for _, f := range fieldsOf(t) {
		names = append(names, f.name)
	}
	if near := Nearest(name, names); near != "" {
		msg += fmt.Sprintf("; did you mean %q?", near)
		if f, _ := fieldNamed(t, near); len(f.enum) > 0 {
			msg += " It takes " + oneOf(f.enum)
		}
		return msg
	}
	switch elsewhere := keyElsewhere(block, name); {
	case elsewhere != "" && elsewhere == name:
		return msg + "; it belongs at the top level"
	case elsewhere != "":
		return fmt.Sprintf("%s; did you mean %q?", msg, elsewhere)
	}
	return msg + "; it has " + strings.Join(names, ", ")
}

// keyElsewhere finds the only key of this name that a person may have meant: first within the block, then within the
// outermost block around it, then at the top level. Other blocks are unrelated, except that a key at the top level
// may belong into any block. It returns "" if there is no such key, or several.
func keyElsewhere(block, name string) string {
	outermost, _, _ := strings.Cut(block, ".")
	for _, within := range []string{block, outermost} {
		var found []string
		for _, k := range fixedKeys(settingsValue(&Settings{})) {
			if k.key == name {
				return name
			}
			if k.name == name && (within == "" || strings.HasPrefix(k.key, within+".")) {
				found = append(found, k.key)
			}
		}
		if len(found) == 1 {
			return found[0]
		}
	}
	return ""
}

// oneOf lists the words of an enum, which has at least two.
func oneOf(words []string) string {
	list := `"` + strings.Join(words, `", "`) + `"`
	last := strings.LastIndex(list, ", ")
	return "one of " + list[:last] + " or " + list[last+len(", "):]
}

// shorten limits the length of names from files in findings.
func shorten(name string) string {
	const limit = 60
	runes := []rune(name)
	if len(runes) <= limit {
		return name
	}
	return string(runes[:limit]) + "…"
}
