package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// transcript is the output that people see; tests can wait for text in it.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
	grew chan struct{}
}

func newTranscript() *transcript { return &transcript{grew: make(chan struct{}, 1)} }

func (o *transcript) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	select {
	case o.grew <- struct{}{}:
	default:
	}
	return o.text.Write(p)
}

func (o *transcript) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

func (o *transcript) wait(t *testing.T, words string) {
	t.Helper()
	end := time.After(10 * time.Second)
	for !strings.Contains(o.String(), words) {
		select {
		case <-o.grew:
		case <-end:
			t.Fatalf("never shown: %q in\n%s", words, o.String())
		}
	}
}

// session is a REPL under test.
type session struct {
	t    *testing.T
	host *fakeHost
	in   io.WriteCloser
	out  *transcript
	intr chan os.Signal
	done chan error
}

func newSession(t *testing.T, change func(*REPLOptions)) *session {
	t.Helper()
	r, w := io.Pipe()
	s := &session{t: t, host: newFakeHost(), in: w, out: newTranscript(), intr: make(chan os.Signal), done: make(chan error, 1)}
	opts := REPLOptions{Client: s.host.serve(t, ""), In: r, Out: s.out, Interrupts: s.intr}
	if change != nil {
		change(&opts)
	}
	go func() { s.done <- NewREPL(opts).Run(t.Context()) }()
	t.Cleanup(func() { _ = w.Close() })
	want(t, s.host.watches, "a watch")
	return s
}

func (s *session) typed(text string) {
	s.t.Helper()
	if _, err := io.WriteString(s.in, text); err != nil {
		s.t.Fatal(err)
	}
}

func (s *session) ends() {
	s.t.Helper()
	if err := want(s.t, s.done, "the end of the REPL"); err != nil {
		s.t.Errorf("Run: %v", err)
	}
}

func (s *session) answer(run, message string, sees string, pieces ...string) {
	s.host.events <- `{"kind":"start","runId":"` + run + `","messageId":"` + message + `","sees":["` + sees + `"]}`
	s.host.events <- `{"kind":"chunks","messageId":"` + message + `","chunks":[{"type":"text-start","id":"t"}]}`
	for _, p := range pieces {
		s.host.events <- `{"kind":"chunks","messageId":"` + message + `","chunks":[{"type":"text-delta","id":"t","delta":"` + p + `"}]}`
	}
}

func end(message, settled string) string {
	return `{"kind":"end","messageId":"` + message + `","last":true,"result":"done","settled":["` + settled + `"]}`
}

// A script pipes a line in and gets the answer before the program ends.
func TestPipedLine(t *testing.T) {
	s := newSession(t, nil)
	s.typed("hi there")
	_ = s.in.Close()
	m := want(t, s.host.sent, "the message")
	if m.Chat != "main" || m.Text != "hi there" {
		t.Errorf("sent %+v", m)
	}
	s.answer("r1", "a1", m.ID, "Hel", "lo\\u001b[2Jyou")
	s.out.wait(t, "Hello[2Jyou") // the escape sequence is harmless
	select {
	case err := <-s.done:
		t.Fatalf("left before the end: %v", err)
	default:
	}
	s.host.events <- end("a1", m.ID)
	s.ends()
	if got := s.out.String(); got != "Hello[2Jyou\n" {
		t.Errorf("got %q", got)
	}
}

func TestLineDuringAnswerMerges(t *testing.T) {
	s := newSession(t, nil)
	s.typed("one\n")
	first := want(t, s.host.sent, "the first message")
	s.answer("r1", "a1", first.ID, "working")
	s.out.wait(t, "working")
	s.typed("two\n")
	second := want(t, s.host.sent, "the second message")
	s.out.wait(t, "(waiting: joins")
	s.host.events <- `{"kind":"chunks","messageId":"a1","chunks":[{"type":"text-end","id":"t"},` +
		`{"type":"tool-input-available","toolCallId":"c","toolName":"web_fetch","input":{"url":"https://example.org"}},` +
		`{"type":"tool-output-available","toolCallId":"c","output":"` + strings.Repeat("x", 600) + `"}]}`
	s.host.events <- `{"kind":"end","messageId":"a1"}`
	s.answer("r1", "a2", second.ID, "both done")
	s.host.events <- end("a2", first.ID+`","`+second.ID)
	_ = s.in.Close()
	s.ends()
	want := "working\n(waiting: joins the answer at its next step)\n* web_fetch {\"url\":\"https://example.org\"}\n  = " +
		strings.Repeat("x", 500) + "…\n(your message joined the answer)\nboth done\n"
	if got := s.out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestCommandsAndInterrupts(t *testing.T) {
	s := newSession(t, nil)
	s.typed("/help\n")
	if m := want(t, s.host.sent, "the help of the host"); m.Text != "/help" {
		t.Errorf("sent %+v", m)
	}
	s.typed("/stop\n/stop all\n\n")
	if want(t, s.host.stops, "stop") || !want(t, s.host.stops, "stop all") {
		t.Error("the stops are not as typed")
	}
	s.host.events <- `{"kind":"start","runId":"r1","messageId":"a1"}`
	s.host.events <- `{"kind":"event","event":{"name":"compaction"}}`
	s.out.wait(t, "condensed")
	s.intr <- os.Interrupt
	want(t, s.host.stops, "the stop of Ctrl-C")
	s.host.events <- `{"kind":"end","messageId":"a1","last":true,"result":"stopped"}`
	s.out.wait(t, "(stopped)")
	s.typed("more\n") // after a line the next Ctrl-C counts as the first
	want(t, s.host.sent, "a message")
	s.intr <- os.Interrupt
	s.typed("/quit\n")
	s.ends()
}

func TestLostConnectionIsMade(t *testing.T) {
	s := newSession(t, nil)
	s.typed("one\n")
	m := want(t, s.host.sent, "the message")
	s.answer("r1", "a1", m.ID, "half ")
	s.out.wait(t, "half ")
	s.host.setView(`{"messages":[{"id":"` + m.ID + `","role":"user","parts":[]},{"id":"a1","role":"assistant","parts":[]}],"waiting":[],"running":true}`)
	s.host.events <- "end"
	want(t, s.host.watches, "the next watch")
	s.host.events <- `{"kind":"start","runId":"r1","messageId":"a1","replay":true,"sees":["` + m.ID + `"],"chunks":[{"type":"text-start","id":"t"},{"type":"text-delta","id":"t","delta":"half and whole"}]}`
	s.host.events <- end("a1", m.ID)
	_ = s.in.Close()
	s.ends()
	if got := s.out.String(); got != "half and whole\n" {
		t.Errorf("got %q, want each word once", got)
	}
}

// An answer that arrived while the watch was lost is shown when the watch is back.
func TestMissedAnswerIsShown(t *testing.T) {
	s := newSession(t, nil)
	s.typed("one\n")
	m := want(t, s.host.sent, "the message")
	s.host.setView(`{"messages":[{"id":"u0","role":"user","parts":[]},{"id":"a0","role":"assistant","parts":[{"type":"text","text":"old"}]},` +
		`{"id":"` + m.ID + `","role":"user","parts":[]},{"id":"a1","role":"assistant","parts":[{"type":"text","text":"missed"}]}],"waiting":[],"running":false}`)
	s.host.events <- "end"
	_ = s.in.Close()
	s.ends()
	if got := s.out.String(); got != "missed\n" {
		t.Errorf("got %q", got)
	}
}

func TestRefusedLine(t *testing.T) {
	s := newSession(t, nil)
	s.host.refuse = `{"error":"declined","message":"Too many wait.\u001b[0m"}`
	s.typed("one\n")
	s.out.wait(t, "Too many wait.[0m\n")
	_ = s.in.Close()
	s.ends()
}

// On a terminal: a prompt, edited lines, a history file, Ctrl-C as a key, styled text in complete
// blocks.
func TestScreen(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history")
	stdtest.Must(t, os.WriteFile(file, []byte("earlier line\n"), 0o600))
	s := newSession(t, func(o *REPLOptions) {
		o.Screen, o.HistoryFile, o.Chinese = &Screen{Color: true}, file, true
	})
	s.out.wait(t, "聊天 main（Test）")
	s.typed("\x1b[A\r") // arrow up: the line from before
	m := want(t, s.host.sent, "the message")
	if m.Text != "earlier line" {
		t.Errorf("sent %q, want the line of the history", m.Text)
	}
	s.answer("r1", "a1", m.ID, "**bo", "ld** text\\n", "\\nsecond ")
	s.out.wait(t, "\x1b[1mbold\x1b[0m text")
	if strings.Contains(s.out.String(), "second") {
		t.Error("half a paragraph was shown: the line editor would eat it")
	}
	s.host.events <- `{"kind":"chunks","messageId":"a1","chunks":[{"type":"text-end","id":"t"}]}`
	s.out.wait(t, "second")
	s.typed("\x03")
	want(t, s.host.stops, "the stop of Ctrl-C")
	s.typed("new line\r")
	want(t, s.host.sent, "the second message")
	s.typed("\x03")
	want(t, s.host.stops, "the stop of Ctrl-C")
	s.typed("\x03")
	s.ends()
	raw, err := os.ReadFile(file)
	info, statErr := os.Stat(file)
	if err != nil || statErr != nil || info.Mode().Perm() != 0o600 || string(raw) != "earlier line\nnew line\n" {
		t.Errorf("history file: %q, %v, %v", raw, err, info.Mode())
	}
}

// Ctrl-C leaves also while the host does not answer.
func TestLeavingAStalledHost(t *testing.T) {
	s := newSession(t, nil)
	for range cap(s.host.sent) {
		s.host.sent <- sent{} // the next message gets no answer
	}
	s.typed("hello\n")
	s.typed("more\n") // is read once the one before is being sent
	for end := time.After(10 * time.Second); ; {
		select {
		case s.intr <- os.Interrupt:
		case err := <-s.done:
			if err != nil {
				t.Errorf("Run: %v", err)
			}
			<-s.host.sent // the host accepts it
			return
		case <-end:
			t.Fatal("Ctrl-C does not leave")
		}
	}
}

// Lines that are pasted together are one message, which is not sent before Enter is pressed.
func TestPastedLinesAreOneMessage(t *testing.T) {
	s := newSession(t, func(o *REPLOptions) { o.Screen = &Screen{} })
	s.out.wait(t, "\x1b[?2004h")
	s.typed("\x1b[200~a\rb\r  c\x1b[201~")
	s.typed(" d\r")
	if m := want(t, s.host.sent, "the message"); m.Text != "a\nb\n  c d" {
		t.Errorf("sent %q", m.Text)
	}
	s.typed("\x1b[200~x\ry\r\x1b[201~\r")
	if m := want(t, s.host.sent, "the message"); m.Text != "x\ny" {
		t.Errorf("sent %q", m.Text)
	}
	s.typed("\x1b[200~not this\r\x1b[201~")
	s.typed("\x03")
	s.typed("hello\r")
	if m := want(t, s.host.sent, "the message"); m.Text != "hello" {
		t.Errorf("sent %q", m.Text)
	}
	s.typed("\x04")
	s.ends()
	s.out.wait(t, "\x1b[?2004l")
}

func TestScreenEndOfInputLeaves(t *testing.T) {
	s := newSession(t, func(o *REPLOptions) { o.Screen = &Screen{} })
	s.typed("\x04")
	s.ends()
	if strings.Contains(s.out.String(), "\x1b[2m") {
		t.Error("colours without permission")
	}
}

func TestHistoryIsBounded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history")
	stdtest.Must(t, os.WriteFile(file, []byte(strings.Repeat("line\n", 3*maxHistory)), 0o600))
	h := loadHistory(file)
	h.Add("")
	h.Add("newest")
	h.Add("newest")
	raw, err := os.ReadFile(file)
	if err != nil || h.Len() != maxHistory+1 || h.At(0) != "newest" || strings.Count(string(raw), "\n") != maxHistory+1 {
		t.Errorf("got %d lines, %d in the file, newest %q, %v", h.Len(), strings.Count(string(raw), "\n"), h.At(0), err)
	}
	none := loadHistory("")
	none.Add("x")
	if none.Len() != 1 {
		t.Error("lines are not kept without a file")
	}
}

func TestPrinter(t *testing.T) {
	text := func(s string) string { return `{"type":"text-delta","id":"t","delta":"` + s + `"}` }
	tests := []struct {
		name   string
		events []string
		want   string
	}{
		{"another person", []string{
			`{"kind":"start","messageId":"a1","sees":["u9"],"turns":[{"id":"u9","role":"user","parts":[{"type":"text","text":"from the phone"}]}]}`,
		}, "> elsewhere: from the phone\n"},
		{"a failed tool and an approval", []string{
			`{"kind":"start","messageId":"a1","chunks":[{"type":"tool-input-available","toolCallId":"c","toolName":"rm\u001b[1m","input":{}},{"type":"tool-approval-request","approvalId":"p","toolCallId":"c"},{"type":"tool-output-error","toolCallId":"c","errorText":"no"}]}`,
		}, "* rm[1m {}\n  = failed: no\n"},
		{"a call that was approved", []string{
			`{"kind":"start","messageId":"a1","chunks":[{"type":"tool-input-available","toolCallId":"c","toolName":"rm","input":{}},{"type":"tool-approval-request","approvalId":"p","toolCallId":"c"}]}`,
			`{"kind":"end","messageId":"a1","last":true,"result":"waiting"}`,
			`{"kind":"start","messageId":"a1","replay":true,"chunks":[{"type":"tool-input-available","toolCallId":"c","toolName":"rm","input":{}},{"type":"tool-approval-request","approvalId":"p","toolCallId":"c"}]}`,
			`{"kind":"chunks","messageId":"a1","chunks":[{"type":"tool-output-available","toolCallId":"c","output":"gone"}]}`,
		}, "* rm {}\n  = gone\n"},
		{"a request that expired", []string{`{"kind":"event","event":{"name":"approval","text":"expired"}}`}, "(a request for approval has expired; nothing was executed)\n"},
		{"a request that was withdrawn", []string{`{"kind":"event","event":{"name":"approval","text":"withdrawn"}}`}, "(a request for approval was withdrawn; nothing was executed)\n"},
		{"a request that was decided", []string{`{"kind":"event","event":{"name":"approval","text":"approved"}}`}, ""},
		{"what chat_send says is the answer", []string{
			`{"kind":"start","messageId":"a1","chunks":[{"type":"tool-input-available","toolCallId":"c","toolName":"chat_send","input":{"text":"to you"}},{"type":"tool-output-available","toolCallId":"c","output":"1 of 1"}]}`,
			`{"kind":"end","messageId":"a1","last":true,"result":"failed"}`,
		}, "to you\n(the answer failed)\n"},
		{"thinking is not shown", []string{
			`{"kind":"start","messageId":"a1","chunks":[{"type":"reasoning-start","id":"r"},{"type":"reasoning-delta","id":"r","delta":"secret plan"}]}`,
			`{"kind":"chunks","messageId":"a1","chunks":[{"type":"reasoning-delta","id":"r","delta":"more"},{"type":"reasoning-end","id":"r"},{"type":"text-start","id":"t"},` + text("hi") + `,{"type":"text-end","id":"t"}]}`,
		}, "hi"},
		{"a step made anew", []string{
			`{"kind":"start","messageId":"a1"}`, `{"kind":"chunks","messageId":"a1","chunks":[` + text("wrong") + `]}`,
			`{"kind":"start","messageId":"a1","replay":true,"chunks":[` + text("right") + `]}`,
		}, "wrongright"},
		{"another message's chunks", []string{`{"kind":"start","messageId":"a1"}`, `{"kind":"chunks","messageId":"a2","chunks":[` + text("x") + `]}`}, ""},
		{"an error", []string{`{"kind":"start","messageId":"a1","chunks":[{"type":"error","errorText":"out of tokens"}]}`}, "out of tokens\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			p := newPrinter(&out, english(), nil)
			for _, raw := range tt.events {
				e, err := decodeEvent([]byte(raw))
				stdtest.Must(t, err)
				p.event(e)
			}
			if out.String() != tt.want {
				t.Errorf("got %q, want %q", out.String(), tt.want)
			}
		})
	}
}

// A request is shown once, in words of the terminal's language, and without JSON. A request that has ended asks for
// nothing.
func TestRequestIsShownOnce(t *testing.T) {
	const call = `"toolCallId":"c","toolName":"exec_shell","input":{"command":"ls"}`
	request := func(answer string) string {
		return `{"messages":[{"id":"a1","role":"assistant","parts":[{"type":"tool-exec_shell","toolCallId":"c","state":"approval-requested","input":{"command":"ls"},"approval":{"id":"p"}}],` +
			`"metadata":{"approvals":{"requests":[{"id":"p","callId":"c","n":2,"expires":` + strconv.FormatInt(time.Date(2026, 1, 2, 15, 4, 0, 0, time.Local).UnixMilli(), 10) +
			`,"what":"May I run this command?","risk":"It can change files.","zh":{"what":"可以运行这个命令吗？"},"exact":"ls\nrm x"` + answer + `}]}}}],"waiting":[],"running":false}`
	}
	tests := []struct {
		name    string
		chinese bool
		answer  string
		want    string
	}{
		{"open", false, "", "  #2: May I run this command? It can change files.\n  | ls\n  | rm x\n  (answer yes or no, or /approve 2 or /deny 2; without an answer it expires at 15:04)\n  = done\n"},
		{"in Chinese", true, "", "  #2: 可以运行这个命令吗？\n  | ls\n  | rm x\n  （请回复“批准”或“拒绝”，也可以发送 /approve 2 或 /deny 2；15:04 前没有答复就失效）\n  = done\n"},
		{"decided", false, `,"answer":"approved"`, "* exec_shell {\"command\":\"ls\"}\n  = done\n"},
		{"expired", false, `,"answer":"expired"`, "* exec_shell {\"command\":\"ls\"}\n  = done\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSession(t, func(o *REPLOptions) { o.Chinese = tt.chinese })
			asks := `"messageId":"a1","chunks":[{"type":"tool-input-available",` + call + `},{"type":"tool-approval-request","approvalId":"p","toolCallId":"c"}]}`
			s.host.setView(request(tt.answer))
			s.host.events <- `{"kind":"start",` + asks
			s.host.events <- `{"kind":"end","messageId":"a1","last":true,"result":"waiting"}`
			s.host.events <- "end" // the view after a lost connection shows nothing again
			want(t, s.host.watches, "the next watch")
			s.host.events <- `{"kind":"start","replay":true,` + asks
			s.host.events <- `{"kind":"chunks","messageId":"a1","chunks":[{"type":"tool-output-available","toolCallId":"c","output":"done"}]}`
			s.out.wait(t, "= done\n")
			if got := s.out.String(); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestStyledBlocksKeepCodeTogether(t *testing.T) {
	p := newPrinter(io.Discard, english(), &Screen{Color: true})
	p.pending = "one\n\n```go\na\n\nb\n"
	if at := p.border(); p.pending[:at] != "one\n\n" {
		t.Errorf("cut at %q", p.pending[:at])
	}
	p.pending += "```\n\n"
	if at := p.border(); at != len(p.pending) {
		t.Errorf("cut at %q", p.pending[:at])
	}
	p = newPrinter(io.Discard, english(), &Screen{})
	p.pending = "one\ntwo"
	if at := p.border(); p.pending[:at] != "one\n" {
		t.Errorf("cut at %q", p.pending[:at])
	}
}
