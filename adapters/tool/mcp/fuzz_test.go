package mcp

import (
	"encoding/json"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// FuzzListed feeds lists of tools that a server might send: what comes through is a
// set that hosts take, whose schemas check inputs, within its bounds, and the same
// after a start.
func FuzzListed(f *testing.F) {
	f.Add(plain("a", "b"), `{"x":1}`)
	f.Add(`[{"name":"a","inputSchema":{"type":"object","$ref":"#"}},{"name":"a"},{"name":"A","title":"\u202ex","inputSchema":{"type":"object"}}]`, `{}`)
	f.Add(`[{"name":"wоrk","inputSchema":{"type":"object","properties":{"a":{"pattern":"("}}}},null,{"name":"x y\n","inputSchema":true}]`, `{"a":"b"}`)
	f.Add(`[{"name":"a","description":"<script>\u0000","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object","allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"$ref":"#/$defs/a"}}}}]`, `{}`)
	f.Fuzz(func(t *testing.T, list, input string) {
		var tools []*sdk.Tool
		if json.Unmarshal([]byte(list), &tools) != nil {
			return
		}
		var all []listed
		for _, x := range tools {
			if x != nil {
				def, err := define(x)
				all = append(all, listed{def, err})
			}
		}
		path := filepath.Join(t.TempDir(), "tools.json")
		store, err := OpenStore(path)
		stdtest.Must(t, err)
		server := &Server{Name: "s", Command: "x", Hidden: []string{"topsecret"}}
		if _, err := store.note(server, all, time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
		m := New(Options{Store: store, Reserved: []string{"read_file"}})
		m.clients["s"] = newClient(m.o, server, func() {})
		offered := m.Tools()
		set, err := tool.NewSet(append(offered, bareTool{})...)
		if err != nil {
			t.Fatalf("a host does not take the tools: %v", err)
		}
		for _, x := range offered {
			spec := x.Spec()
			if len(spec.Description) > maxDescription+64 || !utf8.ValidString(spec.Description) || strings.Contains(spec.Description+spec.Title, "topsecret") {
				t.Errorf("description of %d bytes: %q", len(spec.Description), spec.Description)
			}
			_ = set.Validate(spec.Name, json.RawMessage(input)) // comes to an end
		}
		again, err := OpenStore(path)
		stdtest.Must(t, err)
		if changed, err := again.note(server, all, time.Unix(2, 0)); err != nil || changed {
			t.Errorf("the same list is another after a start: %v, %v", changed, err)
		}
	})
}

type bareTool struct{ tool.Tool }

func (bareTool) Spec() tool.Spec {
	return tool.Spec{Name: "read_file", InputSchema: json.RawMessage(`{"type":"object"}`)}
}

// FuzzResult feeds results that a server might send: what the model reads is valid,
// without secrets, and files have names of ours.
func FuzzResult(f *testing.F) {
	f.Add(`{"content":[{"type":"text","text":"topsecret"}],"structuredContent":{"topsecret":["topsecret"]}}`)
	f.Add(`{"content":[{"type":"image","data":"aGk=","mimeType":"image/../x"},{"type":"resource","resource":{"uri":"topsecret","blob":"aGk="}},{"type":"resource_link","uri":"\u202e"}],"isError":false}`)
	f.Add(`{"content":null,"isError":true,"structuredContent":1e400}`)
	f.Add(`{"content":[{"type":"resource"}],"resultType":"input_required","inputRequests":{}}`)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		var answer sdk.CallToolResult
		if json.Unmarshal([]byte(text), &answer) != nil {
			return
		}
		o := Options{Files: tool.ChatFiles{Root: dir, Folder: func(messages.ChatKey) (string, error) { return "results", nil }}, Logger: slog.New(slog.DiscardHandler)}
		m := New(o)
		c := newClient(m.o, &Server{Name: "s", Hidden: []string{"topsecret", `quo"te`}}, func() {})
		r := newTool(m, c, Definition{Name: "x", InputSchema: json.RawMessage(`{"type":"object"}`)})
		result, err := r.result(t.Context(), tool.Call{}, &answer)
		if err != nil {
			if strings.Contains(err.Error(), "topsecret") || !utf8.ValidString(err.Error()) || len(err.Error()) > maxErrorText+1024 {
				t.Errorf("error = %q", err)
			}
			return
		}
		if !json.Valid(result.Output) || strings.Contains(string(result.Output), "topsecret") {
			t.Errorf("output = %s", result.Output)
		}
		var out content
		if json.Unmarshal(result.Output, &out) == nil {
			for _, file := range out.Files {
				if len(answer.Content) > 0 && answer.StructuredContent == nil && !strings.HasPrefix(file.Path, "results/mcp-") {
					t.Errorf("a file is named %q", file.Path)
				}
			}
		}
	})
}

// FuzzLog feeds output that a program might print: the log contains only lines in our format.
func FuzzLog(f *testing.F) {
	f.Add("a\nb\x1b[31m\x00c", 3)
	f.Add(strings.Repeat("x", 5000)+"\n\n\r", 100)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string, step int) {
		l := newLogFile(dir, &Server{Name: "s"})
		step = max(1, step%1000)
		for rest := text; rest != ""; {
			n := min(step, len(rest))
			if m, err := l.Write([]byte(rest[:n])); m != n || err != nil {
				t.Fatalf("Write = %d, %v", m, err)
			}
			rest = rest[n:]
		}
		l.close()
		got, err := ReadLog(dir, "s")
		if err != nil || len(got) > 2*maxLogFile || strings.ContainsAny(got, "\x00\x1b") || !utf8.ValidString(got) {
			t.Errorf("log of %d bytes, %v", len(got), err)
		}
	})
}
