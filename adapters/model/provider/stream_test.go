package provider

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/apitest"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// TestStreams plays the kinds of streams that real servers send and compares the resulting events.
func TestStreams(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "streams", "*", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no streams: %v", err)
	}
	for _, file := range files {
		api := filepath.Base(filepath.Dir(file))
		t.Run(api+"/"+strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			stdtest.Must(t, err)
			got := transcript(t, apiOf(api), string(archive.Files[0].Data))
			if flag.Lookup("update").Value.String() == "true" {
				archive.Files[1].Data = []byte(got)
				stdtest.Must(t, os.WriteFile(file, txtar.Format(archive), 0o644))
			}
			if diff := gocmp.Diff(string(archive.Files[1].Data), got); diff != "" {
				t.Errorf("heard (-want +got):\n%s", diff)
			}
		})
	}
}

// history contains a call with the id old.
func history() model.Request {
	return model.Request{Messages: []modelmessage.Message{
		{Role: modelmessage.RoleUser, Text: "hi"},
		{Role: modelmessage.RoleAssistant, Parts: []modelmessage.Part{modelmessage.ToolCall{ToolCallID: "old", ToolName: "t", Input: []byte("{}")}}},
		{Role: modelmessage.RoleTool, Parts: []modelmessage.Part{modelmessage.ToolResult{ToolCallID: "old", ToolName: "t", Output: modelmessage.Output{Type: modelmessage.OutputText, Text: "x"}}}},
	}}
}

// apiOf is a protocol by its name in package apitest, which folders of streams have, too.
func apiOf(name string) API {
	if name == apitest.Chat {
		return APIChat
	}
	return API(name)
}

// transcript has one line per event. Ids made up by the parser are masked.
func transcript(t *testing.T, api API, body string) string {
	t.Helper()
	m, err := New(Options{Endpoint: Endpoint{API: api, Model: "m"}, MaxAttempts: 1, Transport: answers{status: 200, body: body}})
	stdtest.Must(t, err)
	var b strings.Builder
	for e, err := range m.Stream(t.Context(), history()) {
		if err != nil {
			retryable := ""
			if typed, ok := errors.AsType[*model.Error](err); ok && typed.Retryable {
				retryable = " (retryable)"
			}
			fmt.Fprintf(&b, "ERROR %v%s\n", err, retryable)
			break
		}
		fmt.Fprintln(&b, strings.TrimSpace(describe(e)))
	}
	return b.String()
}

func describe(e model.Event) string {
	id := e.ID
	if len(id) > 20 {
		id = "NEW"
	}
	switch e.Kind {
	case model.EventToolCall:
		return fmt.Sprintf("%s %s %s %s %s", e.Kind, id, e.ToolName, e.Input, e.ProviderMetadata)
	case model.EventFinish:
		u := e.Usage
		return fmt.Sprintf("%s %s (%s) in %s cached %s out %s reasoning %s", e.Kind, e.Finish.Unified, e.Finish.Raw, number(u.InputTokens), number(u.CachedInputTokens), number(u.OutputTokens), number(u.ReasoningTokens))
	default:
		return fmt.Sprintf("%s %s %s%q%s%s", e.Kind, id, e.ToolName, e.Delta, e.Raw, e.ProviderMetadata)
	}
}

func number(n *int64) string {
	if n == nil {
		return "-"
	}
	return fmt.Sprint(*n)
}
