package feishu_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishu"
	"github.com/shipmyagent/shipmyagent/adapters/platform/platformtest"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

const digest = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// judge is a core for one request.
type judge struct {
	mu      sync.Mutex
	said    []messages.Decision
	decided string
}

func (j *judge) decide(_ context.Context, key messages.ChatKey, by platform.Person, say []messages.Decision) ([]messages.DecisionOutcome, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	d := say[0]
	j.said = append(j.said, d)
	switch {
	case key != target(private).ChatKey, d.ApprovalID != "ap1", d.Digest != digest[:32]:
		return []messages.DecisionOutcome{{Is: messages.DecisionUnknown}}, nil
	case by.ID != owner:
		return []messages.DecisionOutcome{{Is: messages.DecisionForbidden}}, nil
	case j.decided != "":
		return []messages.DecisionOutcome{{Is: messages.DecisionAlready, Answer: j.decided, By: "feishu-" + owner}}, nil
	}
	j.decided = map[bool]string{true: "approved", false: "denied"}[d.Approved]
	return []messages.DecisionOutcome{{Is: messages.DecisionDone}}, nil
}

// asked sends a request with buttons and returns the message's id.
func (b *bench) asked(t *testing.T, text string) string {
	t.Helper()
	parts := b.bot.Plan(platform.Outbound{To: target(private), ID: text, Text: text, Asks: []messages.Ask{{N: 1, ApprovalID: "ap1", Digest: digest}}})
	var made messages.Receipt
	for _, p := range parts {
		var err error
		if made, err = b.bot.Send(t.Context(), target(private), p); err != nil {
			t.Fatal(err)
		}
	}
	return made.ID
}

func toastOf(answer map[string]any) string {
	toast, _ := answer["toast"].(map[string]any)
	text, _ := toast["content"].(string)
	return text
}

// TestAP5Feishu checks that a press decides nothing if it is by somebody who may not decide, in
// another chat, or about another request; the owner's press decides once, and the name of who
// decided replaces the buttons.
func TestAP5Feishu(t *testing.T) {
	for name, link := range map[string]bool{"webhook": false, "connection": true} {
		t.Run(name, func(t *testing.T) {
			core := &judge{}
			b := newBench(t, link, func(o *feishu.Options) { o.Decide = core.decide })
			host := platformtest.NewHost()
			b.receive(t, host)
			host.AwaitUp(t)
			id := b.asked(t, "May I run\n```\nrm -r build\n```")
			buttons := b.api.Buttons(id)
			if len(buttons) != 2 {
				t.Fatalf("buttons %+v", buttons)
			}
			yes := buttons[0].Value
			with := func(name string, v any) map[string]any {
				out := maps.Clone(yes)
				out[name] = v
				return out
			}
			for i, x := range []struct {
				chat, by string
				value    map[string]any
				more     map[string]any
			}{
				{private, other, yes, nil},
				{group, owner, yes, nil}, // forwarded
				{"oc_nowhere", owner, yes, nil},
				{"", owner, yes, nil},
				{private, "", yes, nil},
				{private, owner, with("id", "ap2"), nil},
				{private, owner, with("id", ""), nil},
				{private, owner, with("digest", strings.Repeat("f", 32)), nil},
				{private, owner, with("digest", ""), nil},
				{private, owner, with("digest", digest), nil},
				{private, owner, with("say", "maybe"), nil},
				{private, owner, with("id", 7), nil},
				{private, owner, with("lang", 7), nil},
				{private, other, with("lang", "zh"), nil},
				{private, owner, map[string]any{}, nil},
				{private, owner, yes, map[string]any{"action": "approve"}},
				{private, owner, yes, map[string]any{"operator": nil}},
			} {
				answer, err := b.api.Press(t.Context(), x.chat, id, x.by, x.value, x.more)
				if err != nil || toastOf(answer) == "" || answer["card"] != nil {
					t.Errorf("press %d: %v, %v", i, answer, err)
				}
			}
			if core.decided != "" || len(b.api.Buttons(id)) != 2 {
				t.Fatalf("decided %q", core.decided)
			}
			if answer, err := b.api.Press(t.Context(), private, id, owner, yes, nil); err != nil || toastOf(answer) != "Approved." {
				t.Errorf("the owner's press: %v, %v", answer, err)
			}
			shown := b.api.Sent(private)[0].Text
			if core.decided != "approved" || len(b.api.Buttons(id)) != 0 || !strings.Contains(shown, "rm -r build") || !strings.Contains(shown, "✅ <at id="+owner+">") {
				t.Errorf("decided %q, shown %q", core.decided, shown)
			}
			for lang, want := range map[string]string{"en": "This was decided already.", "zh": "这个请求已经有结果了。", "": "这个请求已经有结果了。", "tlh": "这个请求已经有结果了。"} {
				again := maps.Clone(buttons[1].Value)
				again["lang"] = lang
				if answer, err := b.api.Press(t.Context(), private, id, owner, again, nil); err != nil || toastOf(answer) != want {
					t.Errorf("a second press in %q: %v, %v", lang, answer, err)
				}
			}
		})
	}
}

// TestAP9Feishu checks that a request is shown completely, and nothing in it acts as markup.
func TestAP9Feishu(t *testing.T) {
	b := newBench(t, false, func(o *feishu.Options) { o.Decide = (&judge{}).decide })
	hostile := []string{
		"<at id=all></at>", `<at user_id="all">all</at>`, "**not bold**", "[x](https://evil.example)", "`code`", "<b>b</b>", "<script>x</script>", "&lt;at&gt;",
		`"},{"tag":"button"`, `\"}]}`, "<font color='red'>x</font>", "<text_tag color='red'>x</text_tag>", "![i](img_v3_x)", "~~gone~~", "# title", "> quote",
		"- item", "1. item", "---", "$(rm -rf /)",
	}
	for i := range 60 {
		line := hostile[i%len(hostile)] + strings.Repeat(" x", i)
		text := fmt.Sprintf("May I run\n\n```\n%s\n```\n\nAnswer yes or no.", line)
		id := b.asked(t, text)
		sent := b.api.Sent(private)
		last := sent[len(sent)-1]
		if len(sent) != i+1 || last.ID != id || last.Kind != "interactive" {
			t.Fatalf("%d: sent as %s", i, last.Kind)
		}
		if !strings.Contains(last.Text, line) {
			t.Errorf("%q is not in %q", line, last.Text)
		}
		if strings.Contains(last.Content, `"tag":"markdown"`) || strings.Contains(last.Content, `"lark_md"`) {
			t.Errorf("%d: markup can act in %s", i, last.Content)
		}
	}
}

// TestOutcomeFromElsewhere checks that a card mentions only users of the service as who decided.
func TestOutcomeFromElsewhere(t *testing.T) {
	for name, x := range map[string]struct{ by, byName, want string }{
		"here":                 {"feishu-" + owner, "Ann", "✅ <at id=" + owner + ">"},
		"console":              {"control-owner", "", "✅"},
		"console, with a name": {"control-owner", "Ann", "✅ Ann"},
		"another platform":     {"telegram-1", "Ann", "✅ Ann"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, false, func(o *feishu.Options) {
				o.Decide = func(context.Context, messages.ChatKey, platform.Person, []messages.Decision) ([]messages.DecisionOutcome, error) {
					return []messages.DecisionOutcome{{Is: messages.DecisionAlready, Answer: "approved", By: x.by, ByName: x.byName}}, nil
				}
			})
			host := platformtest.NewHost()
			b.receive(t, host)
			host.AwaitUp(t)
			id := b.asked(t, "May I?")
			press := b.api.Buttons(id)[1].Value
			ask := messages.Ask{N: 1, ApprovalID: "ap1", Digest: digest}
			check := func(what string) {
				t.Helper()
				if shown := b.api.Sent(private)[0].Text; !strings.Contains(shown, x.want) || strings.Contains(shown, "<at id=control") || strings.Contains(shown, "<at id=telegram") {
					t.Errorf("%s: %q, want %q", what, shown, x.want)
				}
			}
			if _, err := b.api.Press(t.Context(), private, id, owner, press, nil); err != nil {
				t.Fatal(err)
			}
			check("a press")
			part := platform.Part{Text: "May I?", Asks: []messages.Ask{ask}}
			stdtest.Must(t, b.bot.ShowOutcomes(t.Context(), target(private), id, part, []messages.AskOutcome{{Ask: ask, Answer: "approved", By: x.by, ByName: x.byName}}))
			check("the card")
		})
	}
}
