package platformtest

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// testDeclared checks that a platform declares exactly the abilities that it has, because the core relies on that.
func testDeclared(t *testing.T, h Harness) {
	t.Helper()
	caps := h.caps()
	_, sends := h.Platform.(platform.Sender)
	_, edits := h.Platform.(platform.Editor)
	_, drafts := h.Platform.(platform.Drafter)
	_, marks := h.Platform.(platform.Marker)
	for _, c := range []struct {
		what        string
		said, there bool
	}{
		{"threads", caps.Threads, h.Topic != nil},
		{"buttons", caps.Buttons, h.Press != nil},
		{"edits", caps.Edits, h.Edit != nil},
		{"a voice of people", caps.VoiceIn, h.Speak != nil},
		{"marks", caps.Reactions, h.Marked != nil},
		{"an outbox", caps.Outbox, sends},
		{"a longest text", caps.MaxText > 0, h.Limit > 0},
	} {
		if c.said != c.there {
			t.Errorf("%s: declared %t, there %t", c.what, c.said, c.there)
		}
	}
	switch {
	case sends != h.sends():
		t.Errorf("it sends: %t; its readers follow chats: %t", sends, !h.sends())
	case caps.Drafts && !edits && !drafts:
		t.Error("drafts are declared, but nothing under way can be shown")
	case caps.Reactions && !marks:
		t.Error("reactions are declared, but nothing can be marked")
	case caps.Cards && !caps.Buttons:
		t.Error("cards without buttons")
	case caps.MaxText != h.Limit:
		t.Errorf("the longest text is declared as %d units, and is %d", caps.MaxText, h.Limit)
	}
	if diff := cmp.Diff(slices.Sorted(slices.Values(caps.Files)), slices.Sorted(slices.Values(h.Files))); diff != "" {
		t.Errorf("kinds of files (-declared +there):\n%s", diff)
	}
	for _, kind := range caps.Files {
		if !slices.Contains(platform.FileKinds(), kind) {
			t.Errorf("%q is not a kind of file", kind)
		}
	}
	for name, r := range map[string]platform.Rate{"chat": caps.Rates.PerChat, "group": caps.Rates.PerGroup, "account": caps.Rates.PerSender} {
		if (r.N > 0) != (r.Per > 0) {
			t.Errorf("half a rate for the %s: %+v", name, r)
		}
	}
	if diff := cmp.Diff(caps, h.caps()); diff != "" {
		t.Errorf("what is declared changes:\n%s", diff)
	}
	if name := h.Platform.Name(); !strings.HasPrefix(string(h.Chat.ChatKey), name+"-chat-") {
		t.Errorf("chats of %s have the key %s", name, h.Chat.ChatKey)
	}
}

// request returns an approval request and its text.
func request(n int) (messages.Ask, string) {
	no := strconv.Itoa(n)
	return messages.Ask{N: n, ApprovalID: "ask-" + no, Digest: strings.Repeat("ab", 32)}, "#" + no + ": May I?\n\nAnswer yes or no, or /approve " + no + " or /deny " + no + "."
}

// show sends a message like the core, on any kind of platform.
func show(t *testing.T, h Harness, out platform.Outbound) {
	t.Helper()
	out = h.caps().Fit(out)
	if !h.sends() {
		h.Answer(out.To, out.Text)
		return
	}
	s := sender(t, h)
	for i, p := range s.Plan(out) {
		if _, err := s.Send(t.Context(), out.To, p); err != nil {
			t.Fatalf("part %d: %v", i+1, err)
		}
	}
}

// testButtons checks that buttons are below the last part, of any kind, and that pressing one decides its request.
func testButtons(t *testing.T, h Harness) {
	t.Helper()
	host := h.core()
	receive(t, h, host)
	ask, words := request(1)
	if h.sends() {
		long := platform.Outbound{To: h.Chat, Text: strings.Repeat("words ", h.Limit/3) + words, Asks: []messages.Ask{ask}}
		parts := sender(t, h).Plan(long)
		for i, p := range parts {
			if last := i == len(parts)-1; len(p.Asks) > 0 != last {
				t.Errorf("part %d of %d has %d requests", i+1, len(parts), len(p.Asks))
			}
		}
	}
	if h.Press == nil || h.Decided == nil {
		t.Fatal("buttons are declared, but nobody can press them")
	}
	for n, approve := range []bool{true, false} {
		ask, words = request(n + 1)
		show(t, h, platform.Outbound{To: h.Chat, Text: words, Asks: []messages.Ask{ask}})
		h.Press(h.Chat, ask, approve)
		faketest.Poll(t, "a decision", func() bool { return len(h.Decided()) > n })
		if d := h.Decided(); len(d) != n+1 || d[n].ApprovalID != ask.ApprovalID || d[n].Approved != approve {
			t.Errorf("request %d: %+v", n+1, d)
		}
	}
}

// testWords checks that a request says how to answer it in words, and that this answer arrives as a message.
func testWords(t *testing.T, h Harness) {
	t.Helper()
	host := h.core()
	receive(t, h, host)
	ask, words := request(1)
	out := h.caps().Fit(platform.Outbound{To: h.Chat, Text: words, Asks: []messages.Ask{ask}})
	if len(out.Asks) != 0 {
		t.Errorf("the core asks by buttons: %+v", out.Asks)
	}
	h.converse(t, host, words)
	h.Say(h.Chat, "yes")
	if in := host.AwaitAccepted(t, 2)[1]; in.Kind != platform.KindMessage || in.Text != "yes" || in.ChatKey != h.Chat.ChatKey {
		t.Errorf("the answer came as %+v", in)
	}
}

// testFiles checks that files of all kinds are sent in order after the text, and that a missing file is refused
// permanently.
func testFiles(t *testing.T, h Harness) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "a file.txt")
	stdtest.Must(t, os.WriteFile(name, []byte("content"), 0o600))
	out := platform.Outbound{To: h.Chat, Text: "look"}
	for _, kind := range h.Files {
		out.Attachments = append(out.Attachments, platform.Attachment{Path: name, Kind: kind, Caption: "a " + kind})
	}
	if diff := cmp.Diff(out, h.caps().Fit(out)); diff != "" {
		t.Errorf("the core changes what the platform can send:\n%s", diff)
	}
	s := sender(t, h)
	want := []string{"look"}
	for _, p := range s.Plan(out) {
		if p.Attachment != nil {
			want = append(want, "a "+p.Attachment.Kind)
		}
		if id, err := s.Send(t.Context(), h.Chat, p); err != nil || id.ID == "" {
			t.Errorf("%+v: %+v, %v", p.Attachment, id, err)
		}
	}
	if got := h.captions(); len(want) != len(h.Files)+1 || !slices.Equal(got, want) {
		t.Errorf("shown %q, want %q", got, want)
	}
	before := len(h.Shown(h.Chat))
	gone := platform.Part{Attachment: &platform.Attachment{Path: name + ".gone", Kind: h.Files[0]}}
	_, err := s.Send(t.Context(), h.Chat, gone)
	if e, ok := errors.AsType[*platform.Error](err); !ok || e.Retryable || e.Unknown || len(h.Shown(h.Chat)) != before {
		t.Errorf("a file that is not there: %v", err)
	}
}

// captions are the texts that people see, without files that have no caption, which a fake shows as [file].
func (h Harness) captions() []string {
	return slices.DeleteFunc(h.Shown(h.Chat), func(s string) bool { return s == "" || strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]") })
}

// testNamedFiles checks that people read the names of the files.
func testNamedFiles(t *testing.T, h Harness) {
	t.Helper()
	host := h.core()
	receive(t, h, host)
	out := h.caps().Fit(platform.Outbound{To: h.Chat, Text: "look", Attachments: []platform.Attachment{{Path: "/state/files/report.pdf", Kind: platform.FileDocument}}})
	if len(out.Attachments) != 0 || strings.Contains(out.Text, "/state") {
		t.Errorf("the core sends %+v", out)
	}
	h.converse(t, host, out.Text)
	if got := h.Shown(h.Chat); len(got) != 1 || !strings.Contains(got[0], "report.pdf") {
		t.Errorf("shown %q", got)
	}
}

// testVoiceOut checks that a spoken answer is one message.
func testVoiceOut(t *testing.T, h Harness) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "voice.opus")
	stdtest.Must(t, os.WriteFile(name, []byte("OggS"), 0o600))
	show(t, h, platform.Outbound{To: h.Chat, Attachments: []platform.Attachment{{Path: name, Kind: platform.FileVoice, Spoken: "good morning"}}})
	if got := h.Shown(h.Chat); len(got) != 1 {
		t.Errorf("shown %q", got)
	}
}

// testWrittenVoice checks that an answer is text where it cannot be spoken.
func testWrittenVoice(t *testing.T, h Harness) {
	t.Helper()
	host := h.core()
	receive(t, h, host)
	out := h.caps().Fit(platform.Outbound{To: h.Chat, Attachments: []platform.Attachment{{Path: "voice.opus", Kind: platform.FileVoice, Spoken: "good morning"}}})
	h.converse(t, host, out.Text)
	if got := h.Shown(h.Chat); !slices.Equal(got, []string{"good morning"}) {
		t.Errorf("shown %q", got)
	}
}

// testVoiceIn checks that a voice message arrives as a message whose file can be fetched.
func testVoiceIn(t *testing.T, h Harness) {
	t.Helper()
	if h.Speak == nil {
		t.Fatal("voices are declared, but nobody can speak")
	}
	if _, ok := h.Platform.(platform.Downloader); !ok {
		t.Error("what people speak cannot be fetched")
	}
	host := h.core()
	receive(t, h, host)
	id := h.Speak(h.Chat)
	in := host.AwaitAccepted(t, 1)[0]
	var files []platform.File
	for _, p := range in.Parts {
		if f, ok := platform.FileOf(p); ok {
			files = append(files, f)
		}
	}
	if in.MessageID != id || len(files) != 1 || files[0].Kind != platform.FileVoice || !files[0].Unfetched() {
		t.Errorf("%s came as %+v with %+v", id, in, files)
	}
}

// testNoVoiceIn checks that a text about a file remains a text.
func testNoVoiceIn(t *testing.T, h Harness) {
	t.Helper()
	host := h.core()
	receive(t, h, host)
	h.Say(h.Chat, `{"kind":"voice","fileId":"F1"}`)
	for _, p := range host.AwaitAccepted(t, 1)[0].Parts {
		if f, ok := platform.FileOf(p); ok {
			t.Errorf("words became the file %+v", f)
		}
	}
}

// testMarks checks that a reaction can be set, replaced and removed.
func testMarks(t *testing.T, h Harness) {
	t.Helper()
	marker, ok := h.Platform.(platform.Marker)
	if !ok || h.Marked == nil {
		t.Fatal("reactions are declared, but nothing can be marked")
	}
	host := h.core()
	receive(t, h, host)
	id := h.Say(h.Chat, "hi")
	host.AwaitAccepted(t, 1)
	for _, mark := range []messages.Mark{messages.MarkSeen, messages.MarkMerged, messages.MarkNone} {
		if err := marker.Mark(t.Context(), h.Chat, id, mark); err != nil {
			t.Errorf("%s: %v", mark, err)
		}
		if got := h.Marked(h.Chat, id); got != (mark != messages.MarkNone) {
			t.Errorf("after the mark %q the message is marked: %t", mark, got)
		}
	}
}

// testNoMarks checks that setting a reaction does nothing where reactions are off.
func testNoMarks(t *testing.T, h Harness) {
	t.Helper()
	host := h.core()
	receive(t, h, host)
	id := h.Say(h.Chat, "hi")
	host.AwaitAccepted(t, 1)
	if marker, ok := h.Platform.(platform.Marker); ok {
		if err := marker.Mark(t.Context(), h.Chat, id, messages.MarkSeen); err != nil {
			t.Errorf("Mark: %v", err)
		}
	}
	if got := h.Shown(h.Chat); len(got) != 0 || h.Marked != nil {
		t.Errorf("shown %q, marks are there: %t", got, h.Marked != nil)
	}
}
