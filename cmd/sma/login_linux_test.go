package main

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform/cli/ptytest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// The login link is written to a terminal, and nowhere else: what a service prints is
// kept in journals.
func TestTheLoginLinkIsForTerminals(t *testing.T) {
	dir := t.TempDir()
	stdtest.Must(t, os.WriteFile(filepath.Join(dir, "Agent.md"), []byte("# Ada\n"), 0o600))
	command := func() *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), binary(t), "run", dir, "--set", "adapters.web.listen=127.0.0.1:0", "--set", "metrics.listen=off", "--set", "log.level=debug")
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
		cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
		return cmd
	}
	theirs, ours := ptytest.Open(t)
	var words bytes.Buffer
	person := command()
	person.Stdout, person.Stderr = theirs, &words
	stdtest.Must(t, person.Start())
	_ = theirs.Close() // the process has it
	line, err := bufio.NewReader(ours).ReadString('\n')
	if err = errors.Join(err, person.Process.Signal(syscall.SIGTERM), person.Wait()); err != nil {
		t.Fatalf("%v, %q\n%s", err, line, words.String())
	}
	page, token, found := strings.Cut(strings.TrimSpace(line), "/login#")
	if !found || !strings.HasPrefix(page, "http://127.0.0.1:") || len(token) != 43 {
		t.Errorf("the terminal shows %q, want the login link", line)
	}
	service := command()
	var printed bytes.Buffer
	service.Stdout = &printed
	untilReady(t, service)
	if err := errors.Join(service.Process.Signal(syscall.SIGTERM), service.Wait()); err != nil {
		t.Error(err)
	}
	if printed.Len() > 0 || strings.Contains(words.String(), token) {
		t.Errorf("a service prints %q; what is on stderr:\n%s", printed.String(), words.String())
	}
	if !strings.Contains(words.String(), "sma link") {
		t.Errorf("nothing says how to log in:\n%s", words.String())
	}
}
