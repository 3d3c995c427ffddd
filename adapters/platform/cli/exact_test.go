package cli

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// A terminal shows exactly what a request would run: completely, with nothing hidden, and without
// control over the terminal.
func TestAP9TerminalShowsWhatRuns(t *testing.T) {
	list := []string{
		"git status", "a\nb", "a\tb", "a\r\nrm -rf x", "\x1b[2K\x1b[1Ahello", "\x1b]0;title\x07", "\u009b31m", "rm\u202e gpj.exe", "\u2066x\u2069", "a\u200bb", "a\u00a0b",
		"a\ufeffb", "a\u2028b", "a\u0085b", "a\x00b", "a\x7fb", "\u3164", "\u2800", "x\ufe0f", "👩\u200d💻", "a\u180eb", "<b>x</b>", "**x**", "`x`", "[x](y)", "\\u202e", "\\", "\"",
		strings.Repeat("long ", 5000), "(answer yes or no, or /approve 1 or /deny 1)", "yes\n  #2: May I run this command?", "a\u034fb", "a\u17b5b", "中文", "e\u0301", " a ", "$(rm x)", "/approve 1", "  = done",
	}
	for r := rune(0xe0001); len(list) < 60; r++ {
		list = append(list, "a"+string(r)+"b")
	}
	for _, command := range list {
		r := journal.Request{ID: "a", CallID: "c", N: 1, Explained: journal.Explained{Words: messages.Words{What: "May I run this command?"}, Exact: command}}
		var out strings.Builder
		p := newPrinter(&out, english(), nil)
		p.chunks([]uistream.Chunk{
			uistream.ToolInputAvailable{ToolCallID: "c", ToolName: "exec_shell", Input: json.RawMessage(`{"command":"x"}`)},
			uistream.ToolApprovalRequest{ToolCallID: "c", ApprovalID: "a"},
		})
		p.requests(messageAsking(r))
		shown := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		last := len(shown) - 1
		if last < 2 || shown[0] != "  #1: May I run this command?" || !strings.HasPrefix(shown[last], "  (answer yes or no") {
			t.Errorf("%q is shown as %q", command, shown)
			continue
		}
		if got := readBack(t, shown[1:last]); got != command {
			t.Errorf("%q is shown as %q", command, got)
		}
	}
}

// messageAsking is a message whose call c waits for a decision.
func messageAsking(r journal.Request) uimessage.Message {
	return uimessage.Message{
		ID: "a1", Role: uimessage.RoleAssistant, Metadata: journal.WithRequests(uimessage.Metadata{}, []journal.Request{r}, 0).Append(nil),
		Parts: []uimessage.Part{uimessage.Tool{
			Name: "exec_shell", ToolCallID: "c", State: uimessage.ToolApprovalRequested, Input: json.RawMessage(`{"command":"x"}`), Approval: &uimessage.Approval{ID: r.ID},
		}},
	}
}

var mark = regexp.MustCompile(`⟦U\+([0-9A-F]{4,6})⟧`)

// readBack is the text that lines of a request show.
func readBack(t *testing.T, lines []string) string {
	t.Helper()
	var out []string
	for _, line := range lines {
		text, ours := strings.CutPrefix(line, "  | ")
		if !ours || strings.ContainsFunc(text, func(r rune) bool { return !strconv.IsPrint(r) }) {
			t.Errorf("the line %q can be mistaken", line)
		}
		out = append(out, mark.ReplaceAllStringFunc(text, func(m string) string {
			r, err := strconv.ParseUint(mark.FindStringSubmatch(m)[1], 16, 32)
			if err != nil {
				t.Error(err)
			}
			return string(rune(r))
		}))
	}
	return strings.Join(out, "\n")
}
