package cli

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// A terminal shows exactly what a request would run: completely, with nothing hidden, and without
// control over the terminal.
func TestAP9TerminalShowsWhatRuns(t *testing.T) {
	list := []string{
		"git status", "a\nb", "a\tb", "a\r\nrm -rf x", "\x1b[2K\x1b[1Ahello", "\x1b]0;title\x07", "\u009b31m", "rm\u202e gpj.exe", "\u2066x\u2069", "a\u200bb", "a\u00a0b",
		"a\ufeffb", "a\u2028b", "a\u0085b", "a\x00b", "a\x7fb", "\u3164", "\u2800", "x\ufe0f", "👩\u200d💻", "a\u180eb", "<b>x</b>", "**x**", "`x`", "[x](y)", "\\u202e", "\\", "\"",
		strings.Repeat("long ", 5000), "(waits for your approval: answer approve or deny)", "a\u034fb", "a\u17b5b", "中文", "e\u0301", " a ", "$(rm x)", "/approve 1", "  = done",
	}
	for r := rune(0xe0001); len(list) < 60; r++ {
		list = append(list, "a"+string(r)+"b")
	}
	for _, command := range list {
		input, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		p := newPrinter(&out, english(), nil)
		p.chunk(uistream.ToolInputAvailable{ToolCallID: "c", ToolName: "exec_shell", Input: input})
		p.chunk(uistream.ToolApprovalRequest{ToolCallID: "c", ApprovalID: "a"})
		_, rest, _ := strings.Cut(out.String(), "\n  | ")
		line, _, found := strings.Cut(rest, "\n  "+english().approval)
		var shown struct{ Command string }
		if err := json.Unmarshal([]byte(line), &shown); err != nil || !found || shown.Command != command {
			t.Errorf("%q is shown as %q: %v", command, line, err)
		}
		for _, r := range line {
			if !strconv.IsPrint(r) {
				t.Errorf("%q is shown with %U", command, r)
			}
		}
	}
}
