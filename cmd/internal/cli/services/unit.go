package services

import (
	_ "embed" // the template
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
)

//go:embed sma.service
var template string

// unit is what a unit file is made of. The paths are as systemd writes them.
type unit struct {
	title    string
	program  string
	dir      string
	user     string // whom a system unit runs as
	trust    string // the digest that the operator agreed to, or empty
	system   bool   // for the whole machine, not for one user
	commands bool   // the agent may run programs
	systemd  int    // version
}

// mark is the first line of a unit's file, by which a unit is recognised.
func mark(dir string) string { return "# sma service of " + dir }

// text is the unit's file. Lines of the template that begin with a condition are kept, without it, if it holds.
func (u unit) text() string {
	holds := map[string]bool{
		"system": u.system, "user": !u.system, "commands": u.commands, "none": !u.commands,
		"trust": u.trust != "", "254": u.systemd >= 254,
	}
	fill := strings.NewReplacer("@DIR@", strings.ReplaceAll(u.dir, "%%", "%"), "@QUOTED@", quoted(u.dir), "@EXEC@", quoted(u.program), "@DESCRIPTION@", u.title, "@USER@", u.user, "@TRUST@", u.trust)
	var out strings.Builder
	for line := range strings.Lines(template) {
		if condition, rest, ok := strings.Cut(line, "| "); ok {
			if keep, known := holds[condition]; known && !keep {
				continue
			} else if known {
				line = rest
			}
		}
		out.WriteString(fill.Replace(line))
	}
	return out.String()
}

// quoted is a word of a unit's file.
func quoted(path string) string {
	if strings.ContainsRune(path, ' ') {
		return `"` + path + `"`
	}
	return path
}

// escaped is a path as systemd writes it. Some characters cannot be written in all of the places that a path has.
func escaped(path string) (string, error) {
	for _, r := range path {
		if unicode.IsControl(r) || strings.ContainsRune(`"'\:$;@#`, r) {
			return "", &console.Failure{
				Code: console.CodeConfig, What: fmt.Sprintf("%s cannot be part of a service: its path contains %s", path, strconv.QuoteRune(r)),
				Help: "a path of letters, digits, spaces and -_.",
			}
		}
	}
	return strings.ReplaceAll(path, "%", "%%"), nil
}

// nameOf is the name of the unit of a folder, without its ending.
func nameOf(base string) string {
	name := strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_' || r == '.') {
			return r
		}
		return '-'
	}, base)
	if name = strings.Trim(name, "-."); name == "" {
		name = "agent"
	}
	return "sma-" + name
}
