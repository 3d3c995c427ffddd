package upgrade

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
)

const sum = "0000000000000000000000000000000000000000000000000000000000000000"

func TestNewestAt(t *testing.T) {
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, sum+"  sma_9.9.9_linux_amd64.tar.gz\n")
	}))
	t.Cleanup(plain.Close)
	tests := []struct {
		name, path string
		answer     http.HandlerFunc
		want, err  string
	}{
		{name: "release", answer: says(sum + "  install.sh\n" + sum + "  sma_1.2.3_linux_amd64.deb\n" + sum + "  sma_1.2.3_linux_amd64.tar.gz\n"), want: "1.2.3"},
		{name: "other list", answer: says("<html>"), err: "names no release"},
		{name: "control characters", answer: says(sum + "  sma_1.\x1b[2J_linux_amd64.tar.gz\n"), err: "names no release"},
		{name: "endless line", answer: says(strings.Repeat("x", 2<<20)), err: "too long"},
		{name: "none", answer: http.NotFound, err: "the answer is 404"},
		{name: "away from https", answer: func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, plain.URL, http.StatusFound) }, err: "away from https"},
		{name: "circle", answer: func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) }, err: "in circles"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			server := httptest.NewTLSServer(tt.answer)
			defer server.Close()
			client := server.Client()
			client.CheckRedirect = onlyHTTPS
			got, err := newestAt(t.Context(), client, server.URL)
			if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("newestAt = %q, %v; want %q, %q", got, err, tt.want, tt.err)
			}
		})
	}
}

func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/latest/download/checksums.txt" {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, text)
	}
}

func TestCompared(t *testing.T) {
	english := &console.Console{Env: func(string) (string, bool) { return "", false }}
	chinese := &console.Console{Env: func(string) (string, bool) { return "zh_CN.UTF-8", true }}
	tests := []struct{ version, newest, want, zh string }{
		{"v1.2.3", "1.2.3", "sma v1.2.3 is up to date\n", "sma v1.2.3 已是最新版本\n"},
		{"v1.10.0", "1.9.9", "sma v1.10.0 is up to date\n", ""},
		{"v1.9.9", "1.10.0", "this is sma v1.9.9; there is a newer release, 1.10.0: https://x\n", "这是 sma v1.9.9；有更新的版本 1.10.0：https://x\n"},
		{"v1.0.0-rc.2", "1.0.0", "this is sma v1.0.0-rc.2; there is a newer release, 1.0.0: https://x\n", ""},
		{"v1.0.0", "1.0.1-rc.1", "this is sma v1.0.0; there is a newer release, 1.0.1-rc.1: https://x\n", ""},
		{"v1.0.0", "1.0.0-rc.9", "sma v1.0.0 is up to date\n", ""},
		{"devel", "1.0.0", "this is sma devel, which is no release; the newest release is 1.0.0\n", "这是 sma devel，不是正式版本；最新版本是 1.0.0\n"},
		{"v0.0.0-20261128030000-a9cec49b0000+dirty", "1.0.0", "this is sma v0.0.0-20261128030000-a9cec49b0000+dirty, which is no release; the newest release is 1.0.0\n", ""},
	}
	for _, tt := range tests {
		c := compared(tt.version, tt.newest, "https://x")
		if got := c.text(english); got != tt.want {
			t.Errorf("%s and %s: %q, want %q", tt.version, tt.newest, got, tt.want)
		}
		if got := c.text(chinese); tt.zh != "" && got != tt.zh {
			t.Errorf("%s and %s: %q, want %q", tt.version, tt.newest, got, tt.zh)
		}
	}
}

// Without a network the words say what could not be done, and the exit code says why. Only https is asked.
func TestRefusals(t *testing.T) {
	tests := []struct {
		name string
		args []string
		code int
		want string
	}{
		{"no check", nil, console.CodeUsage, "does not replace itself"},
		{"http", []string{"--check", "--from", "http://127.0.0.1:1"}, console.CodeUsage, "with https"},
		{"a file", []string{"--check", "--from", "file:///etc/passwd"}, console.CodeUsage, "with https"},
		{"a password", []string{"--check", "--from", "https://a:b@127.0.0.1:1"}, console.CodeUsage, "with https"},
		{"no network", []string{"--check", "--from", "https://127.0.0.1:1/releases"}, console.CodeUnreachable, "the newest release is not known: dial tcp 127.0.0.1:1: connect: connection refused"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			cmd := Command(&console.Console{Stdout: &out, Env: func(string) (string, bool) { return "", false }}, "v1.0.0")
			cmd.SetArgs(tt.args)
			cmd.SilenceErrors, cmd.SilenceUsage = true, true
			err := cmd.ExecuteContext(context.Background())
			f, ok := errors.AsType[*console.Failure](err)
			if !ok || f.Code != tt.code || !strings.Contains(f.Error(), tt.want) || out.Len() > 0 {
				t.Errorf("the error is %v (%q), want code %d and %q", err, out.String(), tt.code, tt.want)
			}
		})
	}
}
