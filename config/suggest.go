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

// editDistance counts insertions, deletions, replacements and swaps of
// neighbours; words over 64 characters are never near.
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

// unknownKey words the finding on a key that a block does not have.
func unknownKey(block, name string, t reflect.Type) string {
	msg := fmt.Sprintf("unknown key %q", shorten(name))
	if block == "" {
		msg += " at the top"
	} else {
		msg += " in " + block
	}
	fields := fieldsOf(t)
	names := make([]string, 0, len(fields))
	for _, f := range fields {
		names = append(names, f.name)
	}
	near := Nearest(name, names)
	if near == "" {
		if elsewhere := keyElsewhere(block, name); elsewhere != "" {
			return fmt.Sprintf("%s; did you mean %q?", msg, elsewhere)
		}
		return msg + "; it has " + strings.Join(names, ", ")
	}
	msg += fmt.Sprintf("; did you mean %q?", near)
	if f, ok := fieldNamed(t, near); ok && len(f.enum) > 0 {
		msg += " It takes " + oneOf(f.enum)
	}
	return msg
}

// keyElsewhere finds the one block that has a key of this name: first within the
// block, then anywhere. It returns "" if there is none or more than one.
func keyElsewhere(block, name string) string {
	defaults := Default()
	var within, anywhere []string
	for _, k := range fixedKeys(reflect.ValueOf(defaults)) {
		if k.name != name {
			continue
		}
		anywhere = append(anywhere, k.key)
		if strings.HasPrefix(k.key, block+".") {
			within = append(within, k.key)
		}
	}
	switch {
	case len(within) == 1:
		return within[0]
	case len(anywhere) == 1:
		return anywhere[0]
	}
	return ""
}

// oneOf lists the words of an enum.
func oneOf(words []string) string {
	quoted := make([]string, 0, len(words))
	for _, w := range words {
		quoted = append(quoted, fmt.Sprintf("%q", w))
	}
	if len(quoted) < 2 {
		return strings.Join(quoted, "")
	}
	return "one of " + strings.Join(quoted[:len(quoted)-1], ", ") + " or " + quoted[len(quoted)-1]
}

// shorten keeps names from files short in findings.
func shorten(name string) string {
	const limit = 60
	runes := []rune(name)
	if len(runes) <= limit {
		return name
	}
	return string(runes[:limit]) + "…"
}
