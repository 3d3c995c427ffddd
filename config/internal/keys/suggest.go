package keys

import (
	"fmt"
	"strings"
)

// Nearest returns the candidate that a person most likely meant by a word, or "".
func Nearest(word string, candidates []string) string {
	best, bestDistance := "", 1+max(1, min(len(word)/3, 3))
	for _, c := range candidates {
		if d := editDistance([]rune(strings.ToLower(word)), []rune(strings.ToLower(c))); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// editDistance counts insertions, deletions, replacements and swaps of neighbors. Words longer than 64 characters are
// never similar.
func editDistance(s, t []rune) int {
	if len(s) > 64 || len(t) > 64 {
		return 64
	}
	rows := make([][]int, len(s)+1)
	for i := range rows {
		rows[i] = make([]int, len(t)+1)
		for j := range rows[i] {
			switch {
			case i == 0 || j == 0:
				rows[i][j] = i + j
			case s[i-1] == t[j-1]:
				rows[i][j] = rows[i-1][j-1]
			default:
				rows[i][j] = 1 + min(rows[i-1][j], rows[i][j-1], rows[i-1][j-1])
				if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
					rows[i][j] = min(rows[i][j], 1+rows[i-2][j-2])
				}
			}
		}
	}
	return rows[len(s)][len(t)]
}

// unknownKey is the message about an unknown key of a block.
func (r *Reader) unknownKey(block Key, name string) string {
	where := "at the top"
	if block.Path != "" {
		where = "in " + block.Path
	}
	message := fmt.Sprintf("unknown key %q %s; ", Shorten(name), where)
	if near := Nearest(name, block.names()); near != "" {
		message += fmt.Sprintf("did you mean %q?", near)
		if k, _ := block.Child(near); len(k.Words) > 0 {
			message += " It takes " + oneOf(k.Words)
		}
		return message
	}
	switch elsewhere := r.elsewhere(block.Path, name); elsewhere {
	case "":
		return message + "it has " + strings.Join(block.names(), ", ")
	case name:
		return message + "it belongs at the top level"
	default:
		return message + fmt.Sprintf("did you mean %q?", elsewhere)
	}
}

// elsewhere finds the only key of this name that a person may have meant: first within the block, then within the
// outermost block around it, then at the top level. Other blocks are unrelated, except that a key at the top level
// may belong into any block. It returns "" if there is no such key, or several.
func (r *Reader) elsewhere(block, name string) string {
	outermost, _, _ := strings.Cut(block, ".")
	for _, within := range []string{block, outermost} {
		var found []string
		for _, k := range r.Table.Fixed() {
			if k.Path == name {
				return name
			}
			if k.Name == name && (within == "" || strings.HasPrefix(k.Path, within+".")) {
				found = append(found, k.Path)
			}
		}
		if len(found) == 1 {
			return found[0]
		}
	}
	return ""
}

// oneOf lists words, of which there are at least two.
func oneOf(words []string) string {
	last := len(words) - 1
	return `one of "` + strings.Join(words[:last], `", "`) + `" or "` + words[last] + `"`
}

// Shorten limits the length of names from files in findings.
func Shorten(name string) string {
	const limit = 60
	runes := []rune(name)
	if len(runes) <= limit {
		return name
	}
	return string(runes[:limit]) + "…"
}
