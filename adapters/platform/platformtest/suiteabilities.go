package platformtest

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
)

// testDeclared: the core believes what a platform says of itself.
func testDeclared(t *testing.T, h Harness) {
	t.Helper()
	caps := h.Platform.Capabilities()
	if _, edits := h.Platform.(platform.Editor); caps.Drafts && !edits {
		t.Error("drafts are declared, but nothing can be edited")
	}
	if caps.Threads != (h.Topic != nil) {
		t.Errorf("threads are declared as %t", caps.Threads)
	}
	if caps.MaxText != 0 && caps.MaxText != h.Limit {
		t.Errorf("the longest text is declared as %d units, and is %d", caps.MaxText, h.Limit)
	}
	for name, r := range map[string]platform.Rate{"chat": caps.Rates.PerChat, "group": caps.Rates.PerGroup, "account": caps.Rates.PerSender} {
		if (r.N > 0) != (r.Per > 0) {
			t.Errorf("half a rate for the %s: %+v", name, r)
		}
	}
	if name := h.Platform.Name(); !strings.HasPrefix(string(h.Chat.ChatKey), name+"-chat-") {
		t.Errorf("chats of %s have the key %s", name, h.Chat.ChatKey)
	}
}

// testAsks: requests go with the last part, whether or not there are buttons for them.
func testAsks(t *testing.T, h Harness) {
	t.Helper()
	asks := []messages.Ask{{N: 1, ApprovalID: "ask-1", Digest: strings.Repeat("ab", 32)}}
	out := platform.Outbound{To: h.Chat, Text: strings.Repeat("words ", h.Limit/3), Asks: asks}
	s := sender(t, h)
	parts := s.Plan(out)
	if len(parts) < 2 {
		t.Fatalf("%d parts", len(parts))
	}
	for i, p := range parts {
		if last := i == len(parts)-1; len(p.Asks) > 0 != last && (!last || h.Platform.Capabilities().Buttons) {
			t.Errorf("part %d of %d has %d requests", i+1, len(parts), len(p.Asks))
		}
		if _, err := s.Send(t.Context(), h.Chat, p); err != nil {
			t.Errorf("part %d: %v", i+1, err)
		}
	}
}

// testFiles: every kind goes out, in order behind the text; a file that is not there
// is refused for good.
func testFiles(t *testing.T, h Harness) {
	t.Helper()
	if len(h.Files) == 0 {
		t.Skip("no files here")
	}
	name := filepath.Join(t.TempDir(), "a file.txt")
	if err := os.WriteFile(name, []byte("content"), 0o600); err != nil {
		t.Fatal(err)
	}
	out := platform.Outbound{To: h.Chat, Text: "look"}
	for _, kind := range h.Files {
		out.Attachments = append(out.Attachments, platform.Attachment{Path: name, Kind: kind, Caption: "a " + kind})
	}
	s := sender(t, h)
	want := []string{"look"}
	for _, p := range s.Plan(out) {
		if p.Attachment != nil {
			want = append(want, "a "+p.Attachment.Kind)
		}
		if id, err := s.Send(t.Context(), h.Chat, p); err != nil || id == "" {
			t.Errorf("%+v: %q, %v", p.Attachment, id, err)
		}
	}
	if got := h.Shown(h.Chat); len(want) != len(h.Files)+1 || !slices.Equal(got, want) {
		t.Errorf("shown %q, want %q", got, want)
	}
	gone := platform.Part{Attachment: &platform.Attachment{Path: name + ".gone", Kind: h.Files[0]}}
	_, err := s.Send(t.Context(), h.Chat, gone)
	if e, ok := errors.AsType[*platform.Error](err); !ok || e.Retryable || e.Unknown || len(h.Shown(h.Chat)) != len(want) {
		t.Errorf("a file that is not there: %v", err)
	}
}
