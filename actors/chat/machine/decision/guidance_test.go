package decision

import "testing"

// Only the memory section of Agent.md guides summaries and facts.
func TestMemorySection(t *testing.T) {
	for _, tt := range []struct{ name, agent, want string }{
		{"none", "# Ada\n\nKind.\n\n## Tools\nAsk.", ""},
		{"empty", "", ""},
		{"one", "# Ada\n## Memory\nKeep birthdays.\n\nNever keep prices.\n## Tools\nAsk.", "Keep birthdays.\n\nNever keep prices."},
		{"at the end", "## What to remember: memory\nKeep birthdays.", "Keep birthdays."},
		{"Chinese", "# 小助手\n## 记忆规则\n记住生日。\n## 工具\n先问。", "记住生日。"},
		{"with parts of its own", "# Memory\nAll:\n## People\nNames.\n### Groups\nNone.\n# Tools\nAsk.", "All:\n## People\nNames.\n### Groups\nNone."},
		{"the first one counts", "## Memory\nOne.\n## Tools\nAsk.\n## Memory\nTwo.", "One."},
		{"a word is not a heading", "#memory\nNot this.\nmemory: nor this.", ""},
		{"Windows", "## Memory\r\nKeep birthdays.\r\n## Tools\r\nAsk.", "Keep birthdays."},
	} {
		if got := MemorySection(tt.agent); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
