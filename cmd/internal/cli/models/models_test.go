package models

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
	"github.com/shipmyagent/shipmyagent/config/catalog"
)

func terminal(lang string) *console.Console {
	return &console.Console{Env: func(name string) (string, bool) { return lang, name == "LANG" }}
}

// For every fault people are told what to do, in both languages.
func TestEveryTroubleHasAWayOut(t *testing.T) {
	for _, reason := range []model.Reason{
		model.ReasonAuth, model.ReasonQuota, model.ReasonNotFound, model.ReasonAddress, model.ReasonTooLong, model.ReasonRate, model.ReasonOverloaded,
		model.ReasonNetwork, model.ReasonCut, model.ReasonIdle, model.ReasonBadRequest, model.ReasonFiltered, model.ReasonInternal,
	} {
		failed := Check{Role: "fallback 2", Name: "m", Block: "llm.fallbacks[1]"}.withReply(reply{err: fmt.Errorf("ask: %w", &model.Error{Reason: reason, Message: "said\nin two lines"})})
		if failed.OK || failed.Reason != reason || failed.Said != "said in two lines" {
			t.Fatalf("%s: judged %+v", reason, failed)
		}
		for lang, label := range map[string]string{"en_US": "fallback 2: m: ", "zh_CN": "备用模型 2：m："} {
			a := terminal(lang)
			checks := Explain([]Check{failed})
			text := CheckText(a, checks)
			if checks[0].Fix == "" || !strings.HasPrefix(text, "fail  "+label) || !strings.Contains(text, "said in two lines") {
				t.Errorf("%s in %s: %q", reason, lang, text)
			}
			if shown := strings.Contains(text, checks[0].Fix); shown != (lang == "en_US") || strings.ContainsAny(checks[0].Fix, "检查稍等为请看如果") {
				t.Errorf("%s in %s: %q, while JSON has %q", reason, lang, text, checks[0].Fix)
			}
		}
	}
}

// TestOverTime: a model that says nothing until the time is over is slow.
func TestOverTime(t *testing.T) {
	checks := Explain([]Check{Check{Name: "m", Block: "llm"}.withReply(reply{took: 90 * time.Second, err: context.DeadlineExceeded})})
	if c := checks[0]; c.Reason != model.ReasonIdle || c.LatencyMS != 90_000 || c.Said != "it did not answer in time" || !strings.Contains(c.Fix, "llm.models.m.firstByteS") {
		t.Errorf("%+v", c)
	}
}

func TestVerdict(t *testing.T) {
	ok, refused, away, other := Check{OK: true}, Check{Reason: model.ReasonAuth}, Check{Reason: model.ReasonNetwork}, Check{Reason: model.ReasonQuota}
	for _, tt := range []struct {
		checks []Check
		want   int
	}{
		{nil, console.CodeOK},
		{[]Check{ok, ok}, console.CodeOK},
		{[]Check{ok, other}, console.CodeFailed},
		{[]Check{other, away, ok}, console.CodeUnreachable},
		{[]Check{away, other}, console.CodeUnreachable},
		{[]Check{refused, away, other}, console.CodeCredential},
		{[]Check{away, refused}, console.CodeCredential},
	} {
		if got := console.CodeOf(Verdict(terminal(""), tt.checks)); got != tt.want {
			t.Errorf("%+v: exit code %d, want %d", tt.checks, got, tt.want)
		}
	}
}

func TestMatching(t *testing.T) {
	names := func(entries []catalog.Model) string {
		var out []string
		for _, m := range entries {
			out = append(out, m.Name)
		}
		return strings.Join(out, " ")
	}
	for _, tt := range []struct{ pattern, want string }{
		{"Claude-Opus-4-5", "claude-opus-4-5"},
		{"claude-opus-4-5-20251101", "claude-opus-4-5"},
		{"anthropic/claude-opus-4.5:free", "claude-opus-4-5"},
		{"gpt-5.4-*", "gpt-5.4-pro gpt-5.4-mini gpt-5.4-nano"},
		{"ollama", ""},
		{"[", ""},
	} {
		if got := names(Matching(tt.pattern)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.pattern, got, tt.want)
		}
	}
	if all := Matching("*"); len(all) < len(catalog.Models())/2 {
		t.Errorf("* matches %d entries", len(all))
	}
	if got := Matching("groq"); len(got) == 0 || got[0].Provider != "groq" {
		t.Errorf("groq has %v", got)
	}
}
