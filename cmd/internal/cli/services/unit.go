package services

import (
	"bytes"
	"cmp"
	"context"
	_ "embed" // the template
	"errors"
	"fmt"
	"os/exec"
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

// quoted returns a path as a word of a unit file.
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
	return "sma-" + cmp.Or(strings.Trim(name, "-."), "agent")
}

// runner runs a program and returns what it wrote to stdout. Its error says what it wrote to stderr.
type runner func(ctx context.Context, name string, args ...string) (string, error)

func run(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	if _, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("%s %s: %s", name, strings.Join(args, " "), strings.Join(strings.Fields(said.String()), " "))
	}
	return out.String(), err
}

// systemd is the manager of the machine or of one user.
type systemd struct {
	run    runner
	system bool
}

func (s systemd) do(ctx context.Context, args ...string) (string, error) {
	if !s.system {
		args = append([]string{"--user"}, args...)
	}
	return s.run(ctx, "systemctl", args...)
}

func (s systemd) version(ctx context.Context) (int, error) {
	out, err := s.run(ctx, "systemctl", "--version")
	words := strings.Fields(out)
	if err != nil || len(words) < 2 {
		return 0, &console.Failure{Code: console.CodeFailed, What: "this machine has no systemd, which a service needs", Why: err, Help: elsewhere}
	}
	n, _, _ := strings.Cut(words[1], ".")
	version, err := strconv.Atoi(n)
	return version, console.Failure{Code: console.CodeFailed, What: "the version of systemd cannot be read"}.Because(err)
}

// show returns the properties of a unit. A unit that is not known has them too.
func (s systemd) show(ctx context.Context, name string) (map[string]string, error) {
	out, err := s.do(ctx, "show", "--property=ActiveState,UnitFileState,MainPID,StatusText", name)
	if err != nil {
		return nil, err
	}
	properties := map[string]string{}
	for line := range strings.Lines(out) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		properties[key] = value
	}
	return properties, nil
}

// lingers reports whether the services of the user continue after a logout. If loginctl does not answer, it assumes that they do.
func (s systemd) lingers(ctx context.Context, uid int) bool {
	out, err := s.run(ctx, "loginctl", "show-user", strconv.Itoa(uid), "--property=Linger", "--value")
	return err != nil || strings.TrimSpace(out) != "no"
}
