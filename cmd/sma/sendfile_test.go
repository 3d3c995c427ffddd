package main_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/jpeg"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// The built binary sends files: a picture is shown to the model, a text is read by it, and
// what cannot be taken is refused with exit code 2, before anything is said.
func TestSendFile(t *testing.T) {
	w := newWorldWith(t, `, "limits": {"fileMB": 1}`)
	var cat bytes.Buffer
	stdtest.Must(t, jpeg.Encode(&cat, image.NewGray(image.Rect(0, 0, 3000, 1500)), nil))
	w.write("cat.jpg", cat.String())
	w.write("notes.txt", "the words in the file")
	w.write("big.bin", strings.Repeat("x", 1<<20+1))
	send := func(args ...string) (string, int) {
		cmd := exec.CommandContext(t.Context(), "sma", append([]string{"send", "-C", w.dir}, args...)...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir, "NO_COLOR=1"}
		out, _ := cmd.CombinedOutput()
		return string(out), cmd.ProcessState.ExitCode()
	}
	at := func(name string) string { return filepath.Join(w.dir, name) }

	if out, code := send("--file", at("cat.jpg"), "--file", at("notes.txt"), "look"); code != 0 || !strings.Contains(out, "look") || !strings.Contains(out, "the words in the file") {
		t.Errorf("exit code %d, %s", code, out)
	}
	bodies := w.server.Bodies()
	if len(bodies) != 1 {
		t.Fatalf("%d requests", len(bodies))
	}
	shown := regexp.MustCompile(`data:image/jpeg;base64,([A-Za-z0-9+/=]+)`).FindSubmatch(bodies[0])
	if shown == nil {
		t.Fatal("the model is shown no picture")
	}
	raw, err := base64.StdEncoding.DecodeString(string(shown[1]))
	stdtest.Must(t, err)
	if cfg, err := jpeg.DecodeConfig(bytes.NewReader(raw)); err != nil || cfg.Width != 1568 || cfg.Height != 784 {
		t.Errorf("the picture is %+v, %v", cfg, err)
	}
	if out, code := send("--file", at("notes.txt")); code != 0 {
		t.Errorf("a file without words: exit code %d, %s", code, out)
	}
	for name, want := range map[string]string{"big.bin": "at most 1 MB", "missing.txt": "cannot be sent", ".": "not an ordinary file"} {
		if out, code := send("--file", at(name), "look"); code != 2 || !strings.Contains(out, want) {
			t.Errorf("%s: exit code %d, %s", name, code, out)
		}
	}
	if out, code := send(); code != 2 || !strings.Contains(out, "the message is empty") {
		t.Errorf("nothing: exit code %d, %s", code, out)
	}
	if n := len(w.server.Bodies()); n != 2 {
		t.Errorf("%d requests after the refusals, want 2", n)
	}
}

// The built binary says where a file is that the agent gave, to people and to programs,
// once somebody agreed to it.
func TestGivenFile(t *testing.T) {
	w := newWorldWith(t, "")
	w.write("out/report.txt", "the numbers")
	run := func(args ...string) (string, int) {
		cmd := exec.CommandContext(t.Context(), "sma", args...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.dir, "NO_COLOR=1"}
		var out bytes.Buffer
		cmd.Stdout = &out
		_ = cmd.Run() // the exit code says it
		return out.String(), cmd.ProcessState.ExitCode()
	}
	const words = `Look|#chat_send_file {"path":"out/report.txt"}`
	if out, code := run("send", "-C", w.dir, words); code != 7 || strings.Contains(out, "report.txt") {
		t.Fatalf("nobody was asked: exit code %d, %s", code, out)
	}
	if out, code := run("approvals", "approve", "-C", w.dir, "cli-chat-main", "1"); code != 0 {
		t.Fatalf("exit code %d, %s", code, out)
	}
	out, code := run("send", "-C", w.dir, words)
	line := regexp.MustCompile(`(?m)^report\.txt, 11 bytes: (/.*/sent-[0-9a-f]{32}/report\.txt)$`).FindStringSubmatch(out)
	if code != 0 || line == nil {
		t.Fatalf("exit code %d, %s", code, out)
	}
	if data, err := os.ReadFile(line[1]); err != nil || string(data) != "the numbers" {
		t.Errorf("%q, %v", data, err)
	}
	out, code = run("send", "-C", w.dir, "--json", words)
	var sent struct {
		Files []struct {
			Name, MediaType, Path string
			Bytes                 int64
		}
	}
	if err := json.Unmarshal([]byte(out), &sent); err != nil || code != 0 || len(sent.Files) != 1 {
		t.Fatalf("exit code %d, %v: %s", code, err, out)
	}
	if f := sent.Files[0]; f.Name != "report.txt" || f.Bytes != 11 || f.MediaType != "text/plain" || f.Path != line[1] {
		t.Errorf("%+v", f)
	}
}
