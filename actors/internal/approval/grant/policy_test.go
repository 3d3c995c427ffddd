package grant

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// shippedLists are the lists of policy.json.
func shippedLists(tb testing.TB) Lists {
	tb.Helper()
	lists, err := ParseLists(shipped)
	if err != nil {
		tb.Fatal(err)
	}
	return lists
}

func TestShippedPolicy(t *testing.T) {
	lists := shippedLists(t)
	for name, n := range map[string][2]int{
		"runners":            {len(lists.Runners), 80},
		"tools":              {len(lists.MultiCommandTools), 15},
		"subcommands":        {len(lists.RunnerSubcommands), 40},
		"protected names":    {len(lists.ProtectedNames), 12},
		"programs' options":  {len(lists.SafeOptions), 30},
		"options of git log": {len(lists.SafeOptions["git log"].Flags), 15},
	} {
		if n[0] < n[1] {
			t.Errorf("%d %s, want at least %d", n[0], name, n[1])
		}
	}
	if !bytes.Contains(shipped, []byte("\n")) || lists.Version != 1 {
		t.Errorf("version %d", lists.Version)
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
			if o.Style == StyleFind {
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

func TestPolicyFaults(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON":               `{`,
		"two values":            `{} {}`,
		"misspelled key":        `{"runner": []}`,
		"wrong type":            `{"runners": "sh"}`,
		"style":                 `{"safe_options": {"x": {"style": "dos"}}}`,
		"no style":              `{"safe_options": {"x": {}}}`,
		"option without a dash": `{"safe_options": {"x": {"style": "gnu", "flags": ["v"]}}}`,
		"two dashes":            `{"safe_options": {"x": {"style": "gnu", "values": ["--"]}}}`,
		"key of three words":    `{"safe_options": {"x y z": {"style": "gnu"}}}`,
		"subcommand":            `{"runner_subcommands": ["git"]}`,
		"protected path":        `{"protected_names": ["a/b"]}`,
		"empty name":            `{"protected_names": [""]}`,
	} {
		lists, err := ParseLists([]byte(text))
		if err == nil {
			_, err = NewPolicy(lists)
		}
		if !errors.Is(err, ErrPolicy) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	_, err := NewPolicy(Lists{RunnerSubcommands: []string{"a", "b"}})
	if err == nil || strings.Count(err.Error(), "two words") != 2 {
		t.Errorf("not every fault is named: %v", err)
	}
	if Decide("ls", "ls", nil) != Ask {
		t.Error("without a policy something runs")
	}
}
