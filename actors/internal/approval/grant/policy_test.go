package grant

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// shippedLists are the lists of policy.json.
func shippedLists(tb testing.TB) lists {
	tb.Helper()
	var l lists
	stdtest.Must(tb, json.Unmarshal(shipped, &l))
	return l
}

func TestShippedPolicy(t *testing.T) {
	l := shippedLists(t)
	for name, n := range map[string][2]int{
		"runners":            {len(l.Runners), 80},
		"tools":              {len(l.MultiCommandTools), 15},
		"subcommands":        {len(l.RunnerSubcommands), 40},
		"protected names":    {len(l.ProtectedNames), 12},
		"programs' options":  {len(l.SafeOptions), 30},
		"options of git log": {len(l.SafeOptions["git log"].Flags), 15},
	} {
		if n[0] < n[1] {
			t.Errorf("%d %s, want at least %d", n[0], name, n[1])
		}
	}
	for _, name := range l.ProtectedNames {
		if name == "" || strings.ContainsAny(name, "/:") {
			t.Errorf("%q is not a name of a file", name)
		}
	}
	for _, sub := range l.RunnerSubcommands {
		if len(strings.Fields(sub)) != 2 {
			t.Errorf("%q has not two words", sub)
		}
	}
	for key, o := range l.SafeOptions {
		if n := len(strings.Fields(key)); n < 1 || n > 2 || !slices.Contains([]string{"gnu", styleGo, styleFind}, o.Style) {
			t.Errorf("options of %q with the style %q", key, o.Style)
		}
	}
	if Decide("ls", "ls", nil) != Ask {
		t.Error("without a policy something runs")
	}
}

func TestEveryListedOption(t *testing.T) {
	p := shippedPolicy(t)
	for key, o := range shippedLists(t).SafeOptions {
		rule := key + " *"
		if _, ok := ParseRule(rule, p); !ok {
			rule = key // the program is a runner
		}
		if _, ok := ParseRule(rule, p); !ok {
			t.Errorf("%q is void", rule)
		}
		for _, flag := range o.Flags {
			if c := key + " " + flag; Decide(c, rule, p) != Auto {
				t.Errorf("%q asks", c)
			}
		}
		for _, option := range o.Values {
			forms := []string{" " + option + " 5", " " + option + "=5"}
			if o.Style == styleFind {
				forms = forms[:1]
			}
			for _, form := range forms {
				if c := key + form; Decide(c, rule, p) != Auto {
					t.Errorf("%q asks", c)
				}
			}
		}
		for _, c := range []string{key + " --no-such-option", key + " -é", key + " -Ĳ=1"} {
			if Decide(c, rule, p) != Ask {
				t.Errorf("%q does not ask", c)
			}
		}
		if got := Decide(key+" -15", rule, p); (got == Auto) != o.Numeric {
			t.Errorf("%s -15: %s, numeric %v", key, got, o.Numeric)
		}
	}
}
