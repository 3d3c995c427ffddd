package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// Ctrl-C in the editor of a memory is for the editor, in which it is a key like others. It ends neither the editor nor
// the command.
func TestInterruptInTheEditor(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	const script = "#!/bin/sh\ncd \"$(dirname \"$0\")\" && echo > began && read x < go && echo edited > \"$1\"\n"
	stdtest.Must(t, errors.Join(
		os.WriteFile(file("editor"), []byte(script), 0o700), os.WriteFile(file("Agent.md"), []byte("# Ada"), 0o600),
		syscall.Mkfifo(file("began"), 0o600), syscall.Mkfifo(file("go"), 0o600),
	))
	signals, ended := make(chan os.Signal), make(chan int, 1)
	go func() {
		ended <- Run(t.Context(), Options{
			Args: []string{"memory", "edit", "project", "-C", dir}, Stdout: io.Discard, Stderr: t.Output(), Signals: signals,
			Env: func(name string) (string, bool) { return file("editor"), name == "EDITOR" },
		})
	}()
	if _, err := os.ReadFile(file("began")); err != nil {
		t.Fatal(err)
	}
	for _, sig := range []os.Signal{os.Interrupt, os.Interrupt, syscall.SIGHUP} { // the last is ignored, after the others were handled
		signals <- sig
	}
	further, err := os.OpenFile(file("go"), os.O_RDWR, 0)
	stdtest.Must(t, err)
	_, err = further.WriteString("\n")
	code := <-ended
	stdtest.Must(t, errors.Join(err, further.Close()))
	if text, err := os.ReadFile(file(".ship/memory/project.md")); code != console.CodeOK || err != nil || string(text) != "edited\n" {
		t.Errorf("code %d, memory %q, %v", code, text, err)
	}
}
