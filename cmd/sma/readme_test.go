package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// block is a fenced block of a page. Its kind is the first word after the fence, and its mark the second.
type block struct{ kind, mark, text string }

// blocks are the fenced blocks of a page, in order.
func blocks(page string) []block {
	var list []block
	for _, m := range regexp.MustCompile("(?s)```(\\w+)(?: (\\w+))?\n(.*?)```").FindAllStringSubmatch(page, -1) {
		list = append(list, block{m[1], m[2], strings.TrimRight(m[3], "\n")})
	}
	return list
}

func readPage(t *testing.T, path string) string {
	t.Helper()
	text := stdtest.Read(t, path)
	return string(text)
}

// The commands of the README are known here, each with a test that runs it; the
// Chinese one has the same.
func TestReadmeCommandsAreTested(t *testing.T) {
	commands := commandsOf(t, "README.md")
	want := []string{
		"make demo",          // TestReadmeDemo
		"make test",          // TestReadmeTest
		"bin/sma init mybot", // TestReadmeInitAndRun
		"export OPENAI_API_KEY=…",
		"export TELEGRAM_BOT_TOKEN=…",
		"bin/sma run mybot", // TestReadmeInitAndRun
	}
	if !slices.Equal(commands, want) {
		t.Errorf("the README's commands are\n%q\nand those with a test are\n%q", commands, want)
	}
	if zh := commandsOf(t, "README.zh.md"); !slices.Equal(commands, zh) {
		t.Errorf("the commands of README.zh.md are\n%q\nand those of README.md\n%q", zh, commands)
	}
}

// commandsOf are the commands of a README without their comments.
func commandsOf(t *testing.T, name string) []string {
	t.Helper()
	var commands []string
	for _, b := range blocks(readPage(t, filepath.Join("..", "..", name))) {
		if b.kind != "sh" {
			continue
		}
		for line := range strings.Lines(b.text) {
			commands = append(commands, strings.TrimSpace(regexp.MustCompile(`\s+#.*`).ReplaceAllString(line, "")))
		}
	}
	return commands
}

// What this test is part of is what the command runs.
func TestReadmeTest(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "make", "-n", "-C", "../..", "test").CombinedOutput()
	if err != nil {
		t.Fatalf("make -n test: %v\n%s", err, out)
	}
	if !regexp.MustCompile(`go test .*\./\.\.\.`).Match(out) {
		t.Errorf("make test would run\n%s", out)
	}
}

func TestReadmeDemo(t *testing.T) {
	flags := "--set adapters.web.listen=127.0.0.1:0 --set metrics.listen=off"
	cmd := exec.CommandContext(t.Context(), "make", "-C", "../..", "demo", "DEMO_DIR="+filepath.Join(t.TempDir(), "demo"), "DEMO_FLAGS="+flags)
	page := untilReady(t, cmd)
	if got := get(t, page); !strings.Contains(got, "<title>") {
		t.Errorf("the page is\n%.300s", got)
	}
	body := `{"id":"r","trigger":"submit-message","messages":[{"id":"1","role":"user","parts":[{"type":"text","text":"hello"}]}]}`
	if got := post(t, page+"/api/chat", body); !strings.Contains(got, `"type":"text-delta"`) || !strings.Contains(got, "[DONE]") {
		t.Errorf("the answer is\n%.500s", got)
	}
}

func TestReadmeInitAndRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "mybot")
	env := append(os.Environ(), "OPENAI_API_KEY=", "TELEGRAM_BOT_TOKEN=", "SMA_RUN_MAIN=1")
	initialise := exec.CommandContext(t.Context(), binary(t), "init", dir)
	initialise.Env = env
	if out, err := initialise.CombinedOutput(); err != nil {
		t.Fatalf("sma init: %v\n%s", err, out)
	}
	run := exec.CommandContext(t.Context(), binary(t), "run", dir, "--set", "adapters.web.listen=127.0.0.1:0", "--set", "metrics.listen=off")
	run.Env = env
	page := untilReady(t, run)
	link := exec.CommandContext(t.Context(), binary(t), "link", "-C", dir)
	link.Env = env
	out, err := link.Output()
	token, found := strings.CutPrefix(strings.TrimSpace(string(out)), page+"/login#")
	if err != nil || !found {
		t.Fatalf("sma link: %v, %q, want an address below %s", err, out, page)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, page, nil)
	stdtest.Must(t, err)
	req.Header.Set("Authorization", "Bearer "+token)
	if got := fetch(t, req); !strings.Contains(got, "<title>") || strings.Contains(got, `name="token"`) {
		t.Errorf("the page is\n%.300s", got)
	}
}

// binary is the program as it is released, built once for all tests.
func binary(t *testing.T) string {
	t.Helper()
	path, err := built()
	stdtest.Must(t, err)
	return path
}

// buildFolder holds the program; TestMain removes it.
var buildFolder string

var built = sync.OnceValues(func() (string, error) {
	path := filepath.Join(buildFolder, "sma")
	if out, err := exec.CommandContext(context.Background(), "go", "build", "-o", path, ".").CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
})

// untilReady starts a host and returns the address of its page. The host is
// stopped, with all it started, when the test ends.
func untilReady(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	words, err := cmd.StderrPipe()
	stdtest.Must(t, err)
	stdtest.Must(t, cmd.Start())
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) // it may be gone
		_ = cmd.Wait()
	})
	var said strings.Builder
	lines := bufio.NewScanner(words)
	for lines.Scan() {
		said.WriteString(lines.Text() + "\n")
		if m := regexp.MustCompile(`web\s+(http://127\.0\.0\.1:\d+)`).FindStringSubmatch(lines.Text()); m != nil {
			go func() { _, _ = io.Copy(io.Discard, words) }()
			return m[1]
		}
	}
	t.Fatalf("the host did not become ready:\n%s", said.String())
	return ""
}

func get(t *testing.T, url string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	stdtest.Must(t, err)
	return fetch(t, req)
}

func post(t *testing.T, url, body string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	stdtest.Must(t, err)
	req.Header.Set("Content-Type", "application/json")
	return fetch(t, req)
}

func fetch(t *testing.T, req *http.Request) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(req.Context(), time.Minute)
	defer cancel()
	resp, err := http.DefaultClient.Do(req.WithContext(ctx))
	stdtest.Must(t, err)
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	stdtest.Must(t, err)
	return string(text)
}
