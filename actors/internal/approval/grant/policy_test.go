package grant

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func TestShippedPolicy(t *testing.T) {
	p := shippedPolicy(t)
	for name, n := range map[string][2]int{
		"runners":            {len(p.lists.Runners), 80},
		"tools":              {len(p.lists.MultiCommandTools), 15},
		"subcommands":        {len(p.lists.RunnerSubcommands), 40},
		"protected names":    {len(p.lists.ProtectedNames), 12},
		"programs' options":  {len(p.lists.SafeOptions), 30},
		"options of git log": {len(p.lists.SafeOptions["git log"].Flags), 15},
	} {
		if n[0] < n[1] {
			t.Errorf("%d %s, want at least %d", n[0], name, n[1])
		}
	}
	if !bytes.Contains(shipped, []byte("\n")) || p.lists.Version != 1 {
		t.Errorf("version %d", p.lists.Version)
	}
}

func TestEveryListedOption(t *testing.T) {
	p := shippedPolicy(t)
	for key, o := range p.lists.SafeOptions {
		rule := key + " *"
		if _, ok := ParseRule(rule, p); !ok {
			rule = key // a runner
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

func TestExtend(t *testing.T) {
	base := shippedPolicy(t)
	add, err := ParseLists([]byte(`{
		"runners": ["frob"], "multi_command_tools": ["tool"], "runner_subcommands": ["tool exec"], "protected_names": ["Secrets"],
		"safe_options": {"git status": {"flags": ["--ahead-behind"], "values": ["--column"]}, "git push": {"style": "gnu", "flags": ["-v"], "numeric": true}}
	}`))
	if err != nil {
		t.Fatal(err)
	}
	p, err := base.Extend(add)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		command, rule string
		before, after Verdict
	}{
		{"git status --ahead-behind", "git status", Ask, Auto},
		{"git status --column=x -s", "git status", Ask, Auto},
		{"git push -v -5", "git push", Ask, Auto},
		{"git push --force", "git push", Ask, Ask},
		{"frob x", "frob *", Auto, Ask},
		{"tool x", "tool *", Auto, Ask},
		{"tool exec x", "tool exec *", Auto, Ask},
		{"tool show x", "tool show *", Auto, Auto},
		{"cat a/secrets/b", "cat *", Auto, Ask},
		{"cat a/sec*", "cat *", Auto, Ask},
		{"cat S?", "cat *", Auto, Ask},
		{"cat a/*", "cat *", Auto, Ask},
		{"cat a/x*", "cat *", Auto, Auto},
		{"cat secrets.d/*.txt", "cat *", Auto, Ask}, // *.txt may start with anything
		{"cat secretsx*", "cat *", Auto, Auto},
		{"cat .env", "cat *", Ask, Ask},
	}
	for _, tt := range tests {
		if got := Decide(tt.command, tt.rule, base); got != tt.before {
			t.Errorf("shipped: %q under %q: got %s, want %s", tt.command, tt.rule, got, tt.before)
		}
		if got := Decide(tt.command, tt.rule, p); got != tt.after {
			t.Errorf("extended: %q under %q: got %s, want %s", tt.command, tt.rule, got, tt.after)
		}
	}
	if _, err := base.Extend(Lists{SafeOptions: map[string]Options{"git status": {Style: StyleGo}}}); !errors.Is(err, ErrPolicy) {
		t.Errorf("another style: got %v", err)
	}
	empty, err := NewPolicy(Lists{})
	if err != nil {
		t.Fatal(err)
	}
	if p, err := empty.Extend(add); err == nil || p != nil {
		t.Error("options without a style are taken")
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
