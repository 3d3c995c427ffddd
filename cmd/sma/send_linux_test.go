package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/cli/ptytest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// A model does not write to a person's terminal as a program does: sma send shows its
// words without what moves cursors or rings bells. A program reads them as they are.
func TestSendToATerminal(t *testing.T) {
	words := "red \x1b[31mwords\a"
	srv := modeltest.NewRawServer(modeltest.Events(modeltest.Delta(`{"content":"red \u001b[31mwords\u0007"}`, ""), modeltest.Delta(`{}`, "stop"), "[DONE]"))
	defer srv.Close()
	dir := t.TempDir()
	stdtest.Must(t, os.WriteFile(filepath.Join(dir, "Agent.md"), []byte("# Ada\n"), 0o600))
	send := func(stdout io.Writer) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), binary(t), "send", "-C", dir, "--set", "llm.provider=custom", "--set", "llm.model=m", "--set", "llm.baseUrl="+srv.URL, "hello")
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
		var printed bytes.Buffer
		cmd.Stdout, cmd.Stderr = stdout, &printed
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v\n%s", err, printed.String())
		}
	}
	theirs, ours := ptytest.Open(t)
	send(theirs)
	shown, err := bufio.NewReader(ours).ReadString('\n')
	if got := strings.TrimSpace(shown); err != nil || got != "red [31mwords" {
		t.Errorf("a terminal shows %q, %v", got, err)
	}
	var program bytes.Buffer
	if send(&program); program.String() != words+"\n" {
		t.Errorf("a program reads %q", program.String())
	}
}
