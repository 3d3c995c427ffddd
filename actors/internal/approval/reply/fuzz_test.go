package reply

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/shipmyagent/shipmyagent/actors/internal/approval/grant"
)

// FuzzParse checks the promises of every reply. It knows nothing of the grammar except the characters and words
// without which nothing is decided.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"可以。", "OK, thanks", "不行，因为还没备份", "只批准第二个", "approve `ls src` and `wc -l a.txt`", "第2条可以", "👍🏽", "@bot 请同意 #1",
		"在5分钟内都同意 ls *", "allow wc * for 20 minutes", "这个10分钟内都可以", "for the next hour, allow “ls src”", "no, because it is 5", "deny 1,2",
	} {
		f.Add(text, "ls src", "wc -l a.txt")
	}
	policy := grant.Shipped()
	f.Fuzz(func(t *testing.T, text, first, second string) {
		pending := []string{first, second}
		r := ParseWith(text, pending, policy, "bot")
		if again := ParseWith(text, pending, policy, "bot"); r.differs(again) {
			t.Fatalf("%q: %v, then %v", text, r, again)
		}
		if r.Kind != Unclear && (!legible(text) || !mayDecide(text)) {
			t.Errorf("%q decides %v", text, r)
		}
		if (r.Minutes != 0) != (r.Kind == GrantTimed) || r.Minutes < 0 || r.Minutes > 60 {
			t.Errorf("%q: %d minutes of %s", text, r.Minutes, r.Kind)
		}
		if (len(r.Targets) != 0) != (r.Kind == GrantTimed || r.Kind == ApproveSome) {
			t.Errorf("%q: targets %q of %s", text, r.Targets, r.Kind)
		}
		for _, target := range r.Targets {
			switch {
			case r.Kind == ApproveSome && !slices.Contains(pending, target):
				t.Errorf("%q approves %q, which does not wait", text, target)
			case r.Kind == GrantTimed && grant.Decide(first, target, policy) != grant.Auto && grant.Decide(second, target, policy) != grant.Auto:
				t.Errorf("%q grants %q, which covers nothing", text, target)
			}
		}
		if len(pending) > 1 && r.Kind == ApproveAll && !strings.ContainsAny(newNorm(text), "全都al") {
			t.Errorf("%q approves all of two", text)
		}
	})
}

func newNorm(text string) string { return string(newLine(text).norm) }

// mayDecide reports whether a text has one of the words without which no reply decides anything.
func mayDecide(text string) bool {
	norm := newNorm(text)
	for _, word := range []string{
		"同意", "可以", "批准", "允许", "准", "通过", "确认", "执行", "行", "好", "没问题", "不", "否", "取消", "拒绝", "👍", "✅", "👌", "👎", "❌", "🚫",
		"y", "ok", "sure", "approve", "allow", "lgtm", "go ahead", "do it", "proceed", "confirm", "sounds good",
		"n", "reject", "refuse", "don't", "cancel", "stop",
	} {
		if strings.Contains(norm, word) {
			return true
		}
	}
	return strings.ContainsFunc(norm, unicode.IsSpace) && strings.Contains(norm, "ahead")
}
