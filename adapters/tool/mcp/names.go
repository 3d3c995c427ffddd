package mcp

import "strings"

// qualified is the name of a server's tool in histories and for people.
func qualified(server, name string) string { return server + ":" + name }

// odd reports whether a name contains characters that can be mistaken for others.
func odd(name string) bool {
	return strings.ContainsFunc(name, func(r rune) bool { return r > '~' })
}

// skeleton is a normal form of a name: names that people, or models that see wire names, can hardly distinguish have
// the same skeleton. It ignores case, separators and differences between similar characters.
func skeleton(name string) string {
	var out strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case r == '0':
			out.WriteByte('o')
		case r == '1', r == 'i', r == '|':
			out.WriteByte('l')
		case r == '5':
			out.WriteByte('s')
		case r >= 'a' && r <= 'z', r >= '2' && r <= '9':
			out.WriteRune(r)
		}
	}
	return strings.ReplaceAll(strings.ReplaceAll(out.String(), "rn", "m"), "vv", "w")
}
