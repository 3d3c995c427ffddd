package agentdir

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/shipmyagent/shipmyagent/adapters/tool/skill"
	"github.com/shipmyagent/shipmyagent/config"
)

// ownTokens is the approximate size of the host's own part of the system text, and toolTokens that of its tool
// descriptions.
const (
	ownTokens  = 700
	toolTokens = 3100
)

// SystemShare is how much of a chat's token budget the system text takes. All numbers are estimates.
type SystemShare struct {
	System  int
	Budget  int    // of system text and history together
	Window  int    // of the model; 0 if unknown
	Largest string // the largest file or part
	Most    int    // its size
}

// TooLarge reports whether the system text takes more than half of a chat's budget, or together with the tools more
// than half of the model's window.
func (s SystemShare) TooLarge() bool {
	return s.System > s.Budget/2 || s.Window > 0 && s.System+toolTokens > s.Window/2
}

// String describes a system text that is too large.
func (s SystemShare) String() string {
	of := fmt.Sprintf("the %d that a chat may send", s.Budget)
	if s.System <= s.Budget/2 {
		of = fmt.Sprintf("the %d of the model's window, besides %d of the tools", s.Window, toolTokens)
	}
	return fmt.Sprintf("the system text takes about %d tokens of %s; most of it is %s, about %d", s.System, of, s.Largest, s.Most)
}

// SystemShare estimates the share of the documents, which must be loaded, and of the list of skills.
func (d *Documents) SystemShare(skills *skill.Set, s config.Settings) SystemShare {
	var overview strings.Builder
	for _, line := range skills.Overview(nil) {
		overview.WriteString(line.Name + line.Description)
	}
	set, out := d.set.Load(), SystemShare{System: ownTokens, Window: windowOf(s), Budget: Budget(s)}
	for _, part := range []struct{ name, text string }{
		{"Agent.md", set.agent},
		{"profile/Primary.md", set.primary},
		{"profile/other.md", set.other},
		{"memory/project.md", set.projectMemory},
		{"the list of skills", overview.String()},
	} {
		n := aboutTokens(part.text)
		if out.System += n; n > out.Most {
			out.Largest, out.Most = part.name, n
		}
	}
	return out
}

// aboutTokens estimates the tokens of a text: one per four letters, or one per character of scripts such as Chinese.
func aboutTokens(text string) int {
	runes := utf8.RuneCountInString(text)
	others := (len(text) - runes) / 2 // a character of three bytes counts as one
	return (runes-min(others, runes))/4 + others
}

// windowOf is the context window of the main model, or 0 if unknown.
func windowOf(s config.Settings) int {
	if own := s.LLM.Models[s.LLM.Model].ContextWindow; own > 0 {
		return own
	}
	return s.LLM.ContextWindow
}

// Budget is how many tokens the system text and history of a chat may have together. The settings define it; a known
// window, less the tokens of an answer, bounds it.
func Budget(s config.Settings) int {
	window := windowOf(s)
	budget := s.Context.History.MaxInputTokensApprox.Of(window)
	answer := cmp.Or(s.LLM.Models[s.LLM.Model].MaxOutputTokens, s.LLM.MaxOutputTokens)
	if room := window - answer; window > 0 && room > 0 {
		budget = min(budget, room*9/10)
	}
	return budget
}
