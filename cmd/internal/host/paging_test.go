package host

import (
	"fmt"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
)

// A long answer is sent in pages of four messages and continues after a restart. Its rest is sent as
// a file. The model takes no part in this.
func TestPagesOnTelegram(t *testing.T) {
	p := newProject(t)
	var long strings.Builder
	for i := range 9000 {
		fmt.Fprintf(&long, "Line %05d of a long answer.\n", i)
	}
	script := modeltest.NewScript(modeltest.Say(long.String()))
	flags := telegramFlags(p)
	flags["adapters.telegram.egress"] = "direct"
	h := p.prepare(t, Options{Model: script}, flags)
	if err := h.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.api.Say(1, 1, "tell me everything", nil)
	p.api.Await(t, "the first page", func() bool { return len(p.api.Sent(1)) == 4 })
	if last := p.api.Sent(1)[3].Text; !strings.Contains(last, `Reply "continue" for more`) {
		t.Errorf("the page ends with %q", last[max(0, len(last)-200):])
	}
	p.api.Say(1, 1, "continue", nil)
	p.api.Await(t, "the second page", func() bool { return len(p.api.Sent(1)) == 8 })
	if err := h.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.start(t, Options{Model: script}, flags)
	p.api.Say(1, 1, "下一页", nil)
	p.api.Await(t, "the third page", func() bool { return len(p.api.Sent(1)) == 12 })
	p.api.Say(1, 1, "full output", nil)
	p.api.AwaitCalls(t, "sendDocument", 1)
	seen := 0
	for _, s := range p.api.Sent(1)[:12] {
		for line := range strings.Lines(s.Text) {
			if want := fmt.Sprintf("Line %05d of", seen); strings.HasPrefix(line, want) {
				seen++
			}
		}
	}
	if first := p.api.Sent(1)[0].Text; seen < 100 || !strings.HasPrefix(first, "Line 00000") {
		t.Errorf("people saw %d lines in order", seen)
	}
	if n := len(script.Requests()); n != 1 {
		t.Errorf("the model was asked %d times, want once", n)
	}
	if name := p.api.Calls("sendDocument")[0].Params.Text("file_name"); name != wholeOutput {
		t.Errorf("the file is called %q", name)
	}
}

const wholeOutput = "full-output.md"
