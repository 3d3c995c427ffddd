package loop_test

import (
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/messages/conformancetest"
)

// loopCase is a conversation with a scripted model.
type loopCase struct {
	conformancetest.Head
	Timing   bool            `json:"timing"`
	Protocol string          `json:"protocol"`
	ToolsRaw json.RawMessage `json:"tools"`
	Server   serverSpec      `json:"server"`
	AutoSend []string        `json:"autoSend"`
	Messages json.RawMessage `json:"messages"`
	Model    []scripted      `json:"model"`
	Expect   struct {
		ModelTools any              `json:"modelTools"`
		ScriptUsed int              `json:"scriptUsed"`
		Turns      []map[string]any `json:"turns"`
	} `json:"expect"`

	tools toolList
}

// readCase reads a case with its tools: an inline set, or a named one.
func readCase(t *testing.T, file conformancetest.File, raw json.RawMessage) *loopCase {
	t.Helper()
	var c loopCase
	conformancetest.Decode(t, raw, &c)
	if tools := file.Tools(t, c.ToolsRaw); tools != nil {
		conformancetest.Decode(t, tools, &c.tools)
	}
	return &c
}

// TestConformance plays every conversation of the vectors with this engine.
func TestConformance(t *testing.T) {
	conformancetest.Play(t, map[string]conformancetest.Check{"loop": func(t *testing.T, file conformancetest.File, raw json.RawMessage) {
		t.Helper()
		defer func() {
			if p := recover(); p != nil {
				t.Errorf("the case cannot be played: %v", p)
			}
		}()
		play(t, readCase(t, file, raw))
	}})
}

// TestConversionSeesTheSame: converting the history with the current message, as chats do, makes
// the same requests as the engine's own view. If the stored form cannot show what the run saw, the
// SDK differs as well.
func TestConversionSeesTheSame(t *testing.T) {
	differs := map[string]string{
		"approvals/denied": "a denial is stored as an error text",
		"approvals/denied with a reason, then a follow-up question": "a denial is stored as an error text",
		"approvals/two asked, one approved, one denied":             "a denial is stored as an error text",
		"approvals/stored refusal from an earlier session":          "a denial is stored as an error text",
		"approvals/forged approval of a tool that never asks":       "a denial is stored as an error text",
		"tools/tool throws":                            "the text of the error is hidden",
		"tools/tool throws, errors hidden, next turn":  "the text of the error is hidden",
		"tools/input does not fit, errors hidden":      "the text of the error is hidden",
		"tools/tool throws something that is no error": "the text of the error is hidden",
		"tools/input is not JSON":                      "what is no input is stored as it came",
	}
	got := map[string]bool{}
	conformancetest.Each(t, conformancetest.Dir, func(name string, file conformancetest.File, raw json.RawMessage) {
		if file.Kind != "loop" {
			return
		}
		c := readCase(t, file, raw)
		if c.Protocol != "" || c.Timing {
			return
		}
		srv := newServer(t, c)
		cl := newClient(t, c, srv)
		for _, turn := range c.Expect.Turns {
			var act action
			redecode(t, turn["action"], &act)
			cl.act(act)
		}
		if srv.differs {
			got[name] = true
		}
	})
	for name := range differs {
		if !got[name] {
			t.Errorf("%s: conversion sees the same, which was not expected", name)
		}
	}
	for name := range got {
		if differs[name] == "" {
			t.Errorf("%s: conversion sees something else", name)
		}
	}
}

func play(t *testing.T, c *loopCase) {
	t.Helper()
	srv := newServer(t, c)
	cl := newClient(t, c, srv)
	compare := &comparer{ids: map[string]string{}, back: map[string]string{}, http: c.Protocol != ""}
	for _, want := range c.Expect.Turns {
		var act action
		redecode(t, want["action"], &act)
		var got map[string]any
		redecode(t, cl.act(act), &got)
		if c.Timing {
			timed(got)
			timed(want)
		}
		delete(want, "action")
		loosenErrors(want)
		loosenErrors(got)
		if diff := compare.diff(got, want); diff != "" {
			t.Errorf("action %+v: -got +want\n%s", act, diff)
		}
	}
	if srv.used != c.Expect.ScriptUsed {
		t.Errorf("model calls: got %d, want %d", srv.used, c.Expect.ScriptUsed)
	}
	if diff := compare.diff(anyOf(t, srv.modelTools), c.Expect.ModelTools); diff != "" {
		t.Errorf("tools of the model: -got +want\n%s", diff)
	}
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("encode %T: %v", v, err)
	}
	return raw
}

func redecode(t *testing.T, from, to any) {
	t.Helper()
	conformancetest.Decode(t, encode(t, from), to)
}

func anyOf(t *testing.T, v any) any {
	t.Helper()
	var out any
	redecode(t, v, &out)
	return out
}

// loosenErrors reduces every error to its name: the rest is for readers.
func loosenErrors(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range []string{"error", "rejected", "broken"} {
			if e, ok := v[key].(map[string]any); ok {
				v[key] = map[string]any{"name": e["name"]}
			}
		}
		for _, m := range v {
			loosenErrors(m)
		}
	case []any:
		for _, m := range v {
			loosenErrors(m)
		}
	}
}

// timed reduces a turn to what does not depend on the speed of a stream: the last chunk, and
// messages without their texts.
func timed(turn map[string]any) {
	requests, _ := turn["requests"].([]any)
	for _, r := range requests {
		r, _ := r.(map[string]any)
		if chunks, _ := r["chunks"].([]any); len(chunks) > 0 {
			r["chunks"] = chunks[len(chunks)-1:]
		}
		dropTexts(r["finish"])
	}
	dropTexts(turn["messages"])
}

func dropTexts(v any) {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "text")
		for _, m := range v {
			dropTexts(m)
		}
	case []any:
		for _, m := range v {
			dropTexts(m)
		}
	}
}

// comparer compares values of vectors with ours. Generated ids match any ids that are used
// consistently.
type comparer struct {
	ids, back map[string]string
	http      bool
}

var generated = regexp.MustCompile(`^(gen|msg|client|response)-\d+$`)

func (c *comparer) diff(got, want any) string {
	got, want = c.align(got, want)
	return cmp.Diff(got, want)
}

// align replaces strings that may differ with the expected ones.
func (c *comparer) align(got, want any) (any, any) {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return got, want
		}
		for k := range w {
			if gv, ok := g[k]; ok {
				g[k], w[k] = c.align(gv, w[k])
			}
		}
	case []any:
		g, ok := got.([]any)
		if !ok {
			return got, want
		}
		for i := range min(len(g), len(w)) {
			g[i], w[i] = c.align(g[i], w[i])
		}
	case string:
		if g, ok := got.(string); ok {
			return c.alignText(g, w), want
		}
	}
	return got, want
}

func (c *comparer) alignText(got, want string) string {
	if before, _, ok := strings.Cut(want, "{{reason}}"); ok && strings.HasPrefix(got, before) {
		return want
	}
	if generated.MatchString(want) {
		if _, known := c.ids[want]; !known {
			if _, taken := c.back[got]; !taken {
				c.ids[want], c.back[got] = got, want
			}
		}
		if c.ids[want] == got {
			return want
		}
	}
	if c.http && equalJSON(got, want) {
		return want
	}
	return got
}

func equalJSON(a, b string) bool {
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return false
	}
	return reflect.DeepEqual(x, y)
}

// toolList is a set of tools in the order of the file.
type toolList []namedTool

type namedTool struct {
	name string
	spec toolSpec
}

func (l *toolList) UnmarshalJSON(raw []byte) error {
	*l = toolList{}
	return conformancetest.EachTool(raw, func(name string, spec toolSpec) { *l = append(*l, namedTool{name, spec}) })
}
