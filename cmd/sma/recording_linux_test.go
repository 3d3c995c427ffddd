package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/shipmyagent/shipmyagent/adapters/platform/cli/ptytest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// The size of the terminal that is recorded.
const (
	recordedColumns = 100
	recordedRows    = 30
)

// recordedCommands are what somebody types who tries the program for the first time.
func recordedCommands() []string {
	return []string{
		`sma send "what time is it?"`,
		`sma send "ask first"`,
		"sma approvals approve cli-chat-main 1",
		"sma chats show cli-chat-main",
	}
}

// cast is a recording in version 2 of the format of asciinema: a header, and what the terminal showed when.
type cast []castEvent

type castEvent struct {
	at   time.Duration
	text string
}

// MarshalJSON writes an event as the format has it.
func (e castEvent) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{float64(e.at.Milliseconds()) / 1000, "o", e.text})
}

func (c cast) file(t *testing.T) []byte {
	t.Helper()
	out := fmt.Appendf(nil, `{"version": 2, "width": %d, "height": %d, "title": "sma with the demo model"}`+"\n", recordedColumns, recordedRows)
	for _, e := range c {
		line, err := json.Marshal(e)
		stdtest.Must(t, err)
		out = append(append(out, line...), '\n')
	}
	return out
}

func parseCast(t *testing.T, file []byte) (out cast) {
	t.Helper()
	for i, line := range bytes.Split(bytes.TrimSpace(file), []byte("\n")) {
		var at float64
		var text string
		if i == 0 {
			continue
		}
		stdtest.Must(t, json.Unmarshal(line, &[]any{&at, new(string), &text}))
		out = append(out, castEvent{time.Duration(at*1000+0.5) * time.Millisecond, text})
	}
	return out
}

// TestRecording plays the session of docs/images/terminal.svg through a terminal: what the commands say is what the
// picture shows, but for times and ids. With PICTURES set to a folder the recording and its picture are left there,
// which docs/images/screenshot.sh does.
func TestRecording(t *testing.T) {
	if testing.Short() {
		t.Skip("the demo model takes its time")
	}
	recorded := record(t)
	if dir := os.Getenv("PICTURES"); dir != "" {
		for name, b := range map[string][]byte{"terminal.cast": recorded.file(t), "terminal.svg": recorded.svg()} {
			stdtest.Must(t, os.WriteFile(filepath.Join(dir, name), b, 0o644)) //nolint:gosec // pictures are public
		}
	}
	file, err := os.ReadFile("../../docs/images/terminal.cast")
	stdtest.Must(t, err)
	picture, err := os.ReadFile("../../docs/images/terminal.svg")
	stdtest.Must(t, err)
	kept := parseCast(t, file)
	if !bytes.Equal(kept.svg(), picture) {
		t.Error("terminal.svg does not show terminal.cast")
	}
	if diff := cmp.Diff(shownBy(kept), shownBy(recorded)); diff != "" {
		t.Errorf("the recording is old; docs/images/screenshot.sh makes it again (-kept +now):\n%s", diff)
	}
	if strings.Contains(string(picture), "<script") || len(picture) > largestRecording {
		t.Errorf("terminal.svg has %d bytes or a script", len(picture))
	}
}

// largestRecording is how many bytes the picture may have.
const largestRecording = 20_000

// shownBy is what a recording shows without what differs each time.
func shownBy(c cast) string {
	var out strings.Builder
	for _, e := range c {
		out.WriteString(e.text)
	}
	text := regexp.MustCompile(`\d\d:\d\d(:\d\d)?|\d{4}-\d\d-\d\d|[A-Z][a-z]+day`).ReplaceAllString(out.String(), "#")
	text = regexp.MustCompile(`tokens \d+ in|, \d+ out`).ReplaceAllString(text, "#") // the name of the day is counted
	text = regexp.MustCompile(` after \d+s`).ReplaceAllString(text, "")              // on a slow machine
	return strings.ReplaceAll(text, "\r\n", "\n")
}

// record starts the demo and plays the commands. They are typed at an even speed, and what they write has the times at
// which it was written.
func record(t *testing.T) (out cast) {
	t.Helper()
	home := t.TempDir()
	environment := []string{"PATH=" + filepath.Dir(binary(t)) + ":" + os.Getenv("PATH"), "HOME=" + home, "TERM=xterm-256color", "LANG=C.UTF-8", "TZ=UTC"}
	host := exec.CommandContext(t.Context(), binary(t), "demo", "bot", "--set", "adapters.web.listen=127.0.0.1:0", "--set", "metrics.listen=off")
	host.Dir, host.Env = home, environment
	untilReady(t, host)
	theirs, ours := ptytest.Open(t)
	stdtest.Must(t, unix.IoctlSetWinsize(int(theirs.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: recordedRows, Col: recordedColumns}))
	var now time.Duration
	show := func(text string, after time.Duration) {
		now += after
		out = append(out, castEvent{now.Round(time.Millisecond), text})
	}
	for _, line := range recordedCommands() {
		show("$ ", 0)
		show(line+"\r\n", time.Second)
		cmd := exec.CommandContext(t.Context(), "sh", "-c", "exec "+line)
		cmd.Dir, cmd.Env = filepath.Join(home, "bot"), environment
		cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, theirs, theirs
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		began := time.Now()
		stdtest.Must(t, cmd.Start())
		ended := make(chan error, 1)
		go func() {
			ended <- cmd.Wait()
			_, _ = io.WriteString(theirs, "\x00") // marks the end
		}()
		took := time.Duration(0)
		for more, b := true, make([]byte, 4096); more; {
			n, err := ours.Read(b)
			stdtest.Must(t, err)
			text, _, ended := bytes.Cut(b[:n], []byte{0})
			more = !ended
			if len(text) > 0 {
				since := time.Since(began)
				show(string(text), since-took)
				took = since
			}
		}
		if exit, ok := errors.AsType[*exec.ExitError](<-ended); ok && exit.ExitCode() != 7 { // it waits for a decision
			t.Fatalf("%s: %v\n%s", line, exit, shownBy(out))
		}
		now += 1500 * time.Millisecond // to be read
		rested(t, cmd)
	}
	return out
}

// rested waits until no run is in progress, so that what follows is the same each time.
func rested(t *testing.T, like *exec.Cmd) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for range 400 {
		cmd := exec.CommandContext(t.Context(), binary(t), "chats", "show", "cli-chat-main", "--json")
		cmd.Dir, cmd.Env = like.Dir, like.Env
		if said, err := cmd.Output(); err == nil && bytes.Contains(said, []byte(`"running": false`)) {
			return
		}
		<-tick.C
	}
	t.Fatal("the run does not end")
}

// svg shows a recording as a picture that moves by itself: all words appear at their times. It needs no script, and
// stands still for those who want no motion.
func (c cast) svg() []byte {
	const left, line, letter = 16, 19, 8.4
	rows := []cast{nil}
	for _, e := range c {
		for piece := range strings.Lines(strings.ReplaceAll(e.text, "\r", "")) {
			last := &rows[len(rows)-1]
			*last = append(*last, castEvent{e.at, strings.TrimSuffix(piece, "\n")})
			if strings.HasSuffix(piece, "\n") {
				rows = append(rows, nil)
			}
		}
	}
	var body strings.Builder
	n := 0
	for _, row := range rows[:len(rows)-1] { // the last one is empty
		colour := "o"
		if len(row) > 0 && row[0].text == "$ " {
			colour = "c"
		}
		for _, part := range wrapped(row) {
			fmt.Fprintf(&body, `<text class="%s" x="%d" y="%d" xml:space="preserve">`, colour, left, 30+n*line)
			for _, e := range part {
				fmt.Fprintf(&body, `<tspan style="animation-delay:%.2fs">%s</tspan>`, e.at.Seconds(), html.EscapeString(e.text))
			}
			body.WriteString("</text>\n")
			n++
		}
	}
	width, height := left*2+recordedColumns*letter, 30+n*line
	return fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" viewBox="0 0 %.0f %d" role="img">
<title>sma in a terminal</title>
<style>
text{font:14px ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d0d7de}
.c{fill:#7ee787}
tspan{fill-opacity:0;animation:show 1ms forwards}
@keyframes show{to{fill-opacity:1}}
@media (prefers-reduced-motion:reduce){tspan{fill-opacity:1;animation:none}}
</style>
<rect width="100%%" height="100%%" rx="8" fill="#151b23"/>
%s</svg>
`, width, height, width, height, body.String())
}

// wrapped breaks a line as the terminal does.
func wrapped(row cast) []cast {
	out, used := []cast{nil}, 0
	for _, e := range row {
		for letters := []rune(e.text); len(letters) > 0; {
			if used == recordedColumns {
				out, used = append(out, nil), 0
			}
			n := min(len(letters), recordedColumns-used)
			out[len(out)-1] = append(out[len(out)-1], castEvent{e.at, string(letters[:n])})
			letters, used = letters[n:], used+n
		}
	}
	return out
}
