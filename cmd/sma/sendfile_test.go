package main_test

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/jpeg"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The built binary sends files: a picture is shown to the model, a text is read by it, and
// what cannot be taken is refused with exit code 2, before anything is said.
func TestSendFile(t *testing.T) {
	w := newWorldWith(t, `, "limits": {"fileMB": 1}`)
	var cat bytes.Buffer
	if err := jpeg.Encode(&cat, image.NewGray(image.Rect(0, 0, 3000, 1500)), nil); err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
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
