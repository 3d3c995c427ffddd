package services

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"

	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
)

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
	if err != nil {
		return 0, &console.Failure{Code: console.CodeFailed, What: "the version of systemd cannot be read", Why: err}
	}
	return version, nil
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
