package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/adapters/tool/tooltest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func set(t *testing.T, names ...string) *tool.Set {
	t.Helper()
	tools := make([]tool.Tool, len(names))
	for i, n := range names {
		tools[i] = tooltest.New(n, nil)
	}
	s, err := tool.NewSet(tools...)
	if err != nil {
		t.Fatalf("NewSet(%q): %v", names, err)
	}
	return s
}

func TestSetIsSortedAndFindsTools(t *testing.T) {
	s := set(t, "web_fetch", "files:read", "chat_send")
	stdtest.Diff(t, "names", []string{"chat_send", "files:read", "web_fetch"}, s.Names())
	if got, ok := s.Lookup("web_fetch"); !ok || got.Spec().Name != "web_fetch" {
		t.Errorf("Lookup(web_fetch) = %v, %v", got, ok)
	}
	if _, ok := s.Lookup("nothing"); ok {
		t.Error("Lookup found a tool that is not there")
	}
}

func TestSetRefuses(t *testing.T) {
	bad := func(name, schema string) tool.Tool {
		return &tooltest.Tool{S: tool.Spec{Name: name, InputSchema: json.RawMessage(schema)}}
	}
	tests := []struct {
		name  string
		tools []tool.Tool
		want  error
	}{
		{"the same name twice", []tool.Tool{bad("a", `{"type":"object"}`), bad("a", `{"type":"object"}`)}, tool.ErrName},
		{"an empty name", []tool.Tool{bad("", `{"type":"object"}`)}, tool.ErrName},
		{"a name with a line break", []tool.Tool{bad("a\nb", `{"type":"object"}`)}, tool.ErrName},
		{"a name with an invisible character", []tool.Tool{bad("a\u200bb", `{"type":"object"}`)}, tool.ErrName},
		{"a long name", []tool.Tool{bad(strings.Repeat("n", 257), `{"type":"object"}`)}, tool.ErrName},
		{"no schema", []tool.Tool{bad("a", ``)}, tool.ErrSchema},
		{"a schema of another type", []tool.Tool{bad("a", `{"type":"string"}`)}, tool.ErrSchema},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := tool.NewSet(tt.tools...); !errors.Is(err, tt.want) {
				t.Errorf("NewSet error = %v, want %v", err, tt.want)
			}
		})
	}
}

func TestWireNames(t *testing.T) {
	long := "server:" + strings.Repeat("x", 90)
	tests := []struct {
		name  string
		names []string
		want  map[string]string // exact wire names; others need only be distinct
	}{
		{"plain names stand for themselves", []string{"chat_send", "Read-File9"}, map[string]string{"chat_send": "chat_send", "Read-File9": "Read-File9"}},
		{"a server's tool is mapped", []string{"files:read"}, map[string]string{"files:read": "files_read"}},
		{"a plain name keeps its place", []string{"files:read", "files_read"}, map[string]string{"files_read": "files_read"}},
		{"mapped names that collide all move", []string{"a:b.c", "a:b/c"}, nil},
		{"long names are cut", []string{long, long + "y", long + "z"}, nil},
		{"other scripts", []string{"服务:读", "服务:写"}, nil},
	}
	form := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := set(t, tt.names...)
			seen := map[string]string{}
			for _, name := range tt.names {
				wire := s.Wire(name)
				if !form.MatchString(wire) {
					t.Errorf("wire name %q of %q has a form that providers refuse", wire, name)
				}
				if other, ok := seen[wire]; ok {
					t.Errorf("%q and %q share the wire name %q", name, other, wire)
				}
				seen[wire] = name
				if got := s.Name(wire); got != name {
					t.Errorf("Name(%q) = %q, want %q", wire, got, name)
				}
				if want, ok := tt.want[name]; ok && wire != want {
					t.Errorf("Wire(%q) = %q, want %q", name, wire, want)
				}
			}
		})
	}
}

func TestWireNamesDoNotDependOnTheOrder(t *testing.T) {
	a, b := set(t, "s:x.y", "s:x/y", "s_x"), set(t, "s_x", "s:x/y", "s:x.y")
	for _, name := range a.Names() {
		if a.Wire(name) != b.Wire(name) {
			t.Errorf("%q is %q in one set and %q in the other", name, a.Wire(name), b.Wire(name))
		}
	}
}

func TestNamesOutsideTheSet(t *testing.T) {
	s := set(t, "a")
	if got := s.Wire("gone:tool"); got != "gone_tool" {
		t.Errorf("Wire of a tool that is gone = %q", got)
	}
	if got := s.Name("unheard_of"); got != "unheard_of" {
		t.Errorf("Name of an unknown wire name = %q", got)
	}
}

func FuzzWireNames(f *testing.F) {
	f.Add("server:tool", "server_tool", "server.tool")
	f.Add(strings.Repeat("é", 64), "", "a\x00")
	form := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	f.Fuzz(func(t *testing.T, a, b, c string) {
		s, err := tool.NewSet(tooltest.New(a, nil), tooltest.New(b, nil), tooltest.New(c, nil))
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for _, name := range s.Names() {
			wire := s.Wire(name)
			if !form.MatchString(wire) || seen[wire] || s.Name(wire) != name {
				t.Errorf("wire name %q of %q among %q", wire, name, s.Names())
			}
			seen[wire] = true
		}
	})
}

func TestPolicyBySpec(t *testing.T) {
	answers := func(d tool.Decision) func(tool.Call) tool.Verdict {
		return func(tool.Call) tool.Verdict { return tool.Verdict{Decision: d} }
	}
	tests := []struct {
		name string
		tool tool.Tool
		want tool.Decision
	}{
		{"a plain tool runs", plainTool{}, tool.Allow},
		{"a spec that asks", &tooltest.Tool{S: tool.Spec{Asks: true}, Verdict: answers(tool.Allow)}, tool.Ask},
		{"a judge allows", &tooltest.Tool{Verdict: answers(tool.Allow)}, tool.Allow},
		{"a judge denies", &tooltest.Tool{Verdict: answers(tool.Deny)}, tool.Deny},
		{"a judge in doubt", &tooltest.Tool{Verdict: answers("")}, tool.Ask},
		{"a judge that says nonsense", &tooltest.Tool{Verdict: answers("sure")}, tool.Ask},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tool.BySpec(tt.tool, tool.Call{}); got.Decision != tt.want {
				t.Errorf("decision = %q, want %q", got.Decision, tt.want)
			}
		})
	}
}

type plainTool struct{}

func (plainTool) Spec() tool.Spec { return tool.Spec{} }

func (plainTool) Invoke(context.Context, tool.Call) (tool.Result, error) { return tool.Result{}, nil }
