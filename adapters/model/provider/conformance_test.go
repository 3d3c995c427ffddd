package provider

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/internal/chat"
	"github.com/shipmyagent/shipmyagent/adapters/model/internal/protocol"
	"github.com/shipmyagent/shipmyagent/messages/conformancetest"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// TestConformance runs every prompt and response vector.
func TestConformance(t *testing.T) {
	conformancetest.Play(t, map[string]conformancetest.Check{"prompt": runPrompt, "response": runResponse})
}

type orderedTools []model.ToolSpec

func (o *orderedTools) UnmarshalJSON(b []byte) error {
	type tool struct {
		Description string
		InputSchema json.RawMessage
		// Running tools, and the conversion of their results, is not tested here.
		Title, Metadata, Dynamic, OutputSchema, NeedsApproval, Execute, ToModelOutput json.RawMessage
	}
	return conformancetest.EachTool(b, func(name string, spec tool) {
		*o = append(*o, model.ToolSpec{Name: name, Description: spec.Description, InputSchema: spec.InputSchema})
	})
}

type promptCase struct {
	conformancetest.Head
	Messages json.RawMessage // expect.convert is the result of their conversion
	System   string
	Options  struct {
		Tools json.RawMessage
		// Only the conversion depends on these.
		IgnoreIncompleteToolCalls bool
		ConvertDataPart           string
	}
	ToolChoice    json.RawMessage
	SupportedURLs map[string][]string        `json:"supportedUrls"`
	Settings      map[string]json.RawMessage // by the SDK's names
	Expect        struct {
		Convert struct {
			ModelMessages []modelmessage.Message
		}
		Prompt               json.RawMessage
		ChatCompletions      json.RawMessage
		PromptError          json.RawMessage
		ChatCompletionsError json.RawMessage
	}
}

// fakeDownload returns the same few bytes for every link.
func fakeDownload(context.Context, string) ([]byte, string, error) {
	return []byte{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n', 1, 2, 3}, "image/png", nil
}

// checkConverted converts the messages like chats do.
func checkConverted(t *testing.T, c promptCase, file conformancetest.File) {
	t.Helper()
	if c.Options.ConvertDataPart != "" || bytes.Contains(file.Tools(t, c.Options.Tools), []byte("toModelOutput")) {
		return // cases of kind convert test these
	}
	var list []uimessage.Message
	err := json.Unmarshal(c.Messages, &list)
	stdtest.Must(t, err)
	got, err := conformancetest.Convert(list, conformancetest.Options{IgnoreIncompleteToolCalls: c.Options.IgnoreIncompleteToolCalls})
	stdtest.Must(t, err)
	want, err := json.Marshal(c.Expect.Convert.ModelMessages)
	stdtest.Must(t, err)
	have, err := json.Marshal(got)
	checkJSON(t, "converted", want, nil, have, err)
}

func runPrompt(t *testing.T, file conformancetest.File, raw json.RawMessage) {
	t.Helper()
	var c promptCase
	conformancetest.Decode(t, raw, &c)
	checkConverted(t, c, file)
	req := model.Request{System: c.System, Messages: c.Expect.Convert.ModelMessages, Tools: toolsOf(t, file.Tools(t, c.Options.Tools)), ToolChoice: choiceOf(t, c.ToolChoice)}
	if limit := c.Settings["maxOutputTokens"]; limit != nil {
		stdtest.Must(t, json.Unmarshal(limit, &req.MaxOutputTokens))
	}
	p, prompter := exactChat(c)
	if e := c.Expect; (e.Prompt == nil) == (e.PromptError == nil) || (e.ChatCompletions == nil) == (e.ChatCompletionsError == nil) {
		t.Fatal("the case expects nothing")
	}
	got, err := providerPrompt(t.Context(), prompter, req)
	checkJSON(t, "prompt", c.Expect.Prompt, c.Expect.PromptError, got, err)
	body, err := p.Write(t.Context(), req)
	unstreamed := strings.Replace(string(bytes.Join(body.Pieces, nil)), `,"stream":true,"stream_options":{"include_usage":true}`, "", 1) // the cases do not stream
	checkJSON(t, "body", c.Expect.ChatCompletions, c.Expect.ChatCompletionsError, []byte(unstreamed), err)
}

func exactChat(c promptCase) (*chat.Protocol, *protocol.Prompter) {
	o := chat.Options{Address: chat.Address{Model: "test-model"}, Exact: true}
	o.Prompter.Download = fakeDownload
	o.Prompter.TakesLink = func(mediaType, link string) bool {
		for kind, patterns := range c.SupportedURLs {
			prefix, wild := strings.CutSuffix(kind, "*")
			if kind != mediaType && (!wild || !strings.HasPrefix(mediaType, prefix)) {
				continue
			}
			for _, p := range patterns {
				if regexp.MustCompile(p).MatchString(link) {
					return true
				}
			}
		}
		return false
	}
	for name, value := range c.Settings {
		if name == "maxOutputTokens" {
			continue
		}
		wire := map[string]string{"topP": "top_p", "presencePenalty": "presence_penalty", "frequencyPenalty": "frequency_penalty", "stopSequences": "stop"}[name]
		o.Members = append(o.Members, Member{Name: cmp.Or(wire, name), Value: value})
	}
	return chat.New(o), &o.Prompter
}

func toolsOf(t *testing.T, raw json.RawMessage) []model.ToolSpec {
	t.Helper()
	if raw == nil {
		return nil
	}
	var tools orderedTools
	stdtest.Must(t, json.Unmarshal(raw, &tools))
	return tools
}

func choiceOf(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	if raw == nil {
		return ""
	}
	var choice string
	if json.Unmarshal(raw, &choice) == nil {
		return choice
	}
	var tool struct{ Type, ToolName string }
	stdtest.Must(t, conformancetest.Strictly(raw, &tool))
	if tool.Type != "tool" {
		return tool.Type
	}
	return "tool:" + tool.ToolName
}

func checkJSON(t *testing.T, what string, want, wantErr json.RawMessage, got []byte, err error) {
	t.Helper()
	if wantErr != nil {
		var e struct{ Name, Message string } // the message is for readers
		stdtest.Must(t, conformancetest.Strictly(wantErr, &e))
		if err == nil || e.Name == "" || !named(err, e.Name) {
			t.Errorf("%s is %s (%v), want %s", what, got, err, e.Name)
		}
		return
	}
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if diff := gocmp.Diff(looseJSON(t, want), looseJSON(t, got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s\n%s", what, diff, got)
	}
}

// named reports whether an error is the one with this name in the SDK. Names of JavaScript's own
// errors match any error.
func named(err error, name string) bool {
	for known, is := range map[string]error{
		"AI_InvalidPromptError":            protocol.ErrNoMessages,
		"AI_MissingToolResultsError":       protocol.ErrMissingResult,
		"AI_UnsupportedFunctionalityError": protocol.ErrUnsupported,
	} {
		if errors.Is(err, is) {
			return name == known
		}
	}
	return !strings.HasPrefix(name, "AI_")
}

// looseJSON decodes a value, including strings that contain JSON.
func looseJSON(t *testing.T, b []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	return loosen(v, "")
}

func loosen(v any, name string) any {
	switch v := v.(type) {
	case map[string]any:
		for k, item := range v {
			v[k] = loosen(item, k)
		}
	case []any:
		for i, item := range v {
			v[i] = loosen(item, "")
		}
	case string:
		var inner any
		if (name == "arguments" || name == "content") && json.Unmarshal([]byte(v), &inner) == nil {
			return map[string]any{"$json": inner}
		}
	}
	return v
}

// providerPrompt returns the provider-level prompt in the form of the vectors, with consecutive
// tool messages merged.
func providerPrompt(ctx context.Context, p *protocol.Prompter, req model.Request) ([]byte, error) {
	if len(req.Messages) == 0 {
		return nil, protocol.ErrNoMessages
	}
	if err := protocol.CheckResults(req.Messages); err != nil {
		return nil, err
	}
	out := []map[string]any{}
	if req.System != "" {
		out = append(out, map[string]any{"role": "system", "content": req.System})
	}
	for _, m := range req.Messages {
		pm, err := p.Message(ctx, m)
		if err != nil {
			return nil, err
		}
		content := []any{}
		for _, part := range pm.Parts {
			content = append(content, partJSON(part))
		}
		if last := len(out) - 1; m.Role == modelmessage.RoleTool && last >= 0 && out[last]["role"] == m.Role {
			before, _ := out[last]["content"].([]any)
			out[last]["content"] = append(before, content...)
			continue
		}
		entry := map[string]any{"role": m.Role, "content": content}
		if m.Role == modelmessage.RoleSystem {
			entry["content"] = textOf(pm)
		}
		if pm.Options != nil {
			entry["providerOptions"] = pm.Options
		}
		if m.Role != modelmessage.RoleTool || len(content) > 0 {
			out = append(out, entry)
		}
	}
	return json.Marshal(out)
}

func textOf(m protocol.Message) (text string) {
	for _, p := range m.Parts {
		if part, ok := p.Part.(modelmessage.Text); ok {
			text += part.Text
		}
	}
	return text
}

func partJSON(p protocol.Part) any {
	if p.File == nil {
		b, _ := modelmessage.EncodePart(p.Part)
		return json.RawMessage(b)
	}
	f := p.File
	out := map[string]any{"type": "file", "mediaType": f.MediaType}
	switch {
	case f.Bytes != nil:
		out["data"] = map[string]any{"$bytes": base64.StdEncoding.EncodeToString(f.Bytes)}
	case f.Link != "":
		out["data"] = map[string]any{"$url": f.Link}
	default:
		out["data"] = f.Base64
	}
	if f.Filename.Set {
		out["filename"] = f.Filename.Value
	}
	if f.Original != "" {
		out["originalUrl"] = f.Original
	}
	if f.Options != nil {
		out["providerOptions"] = f.Options
	}
	return out
}

type responseCase struct {
	conformancetest.Head
	Status int
	Body   string
	Expect struct {
		Parts []json.RawMessage
		Error *struct {
			Name        string // one of the SDK's classes
			Message     string
			StatusCode  int
			IsRetryable *bool
		}
	}
}

func runResponse(t *testing.T, _ conformancetest.File, raw json.RawMessage) {
	t.Helper()
	var c responseCase
	conformancetest.Decode(t, raw, &c)
	m, err := New(Options{Endpoint: Endpoint{BaseURL: "http://model.test/v1", Model: "test-model"}, Exact: true, Transport: answers{status: cmp.Or(c.Status, 200), body: c.Body}})
	stdtest.Must(t, err)
	var got []any
	var failed error
	for e, err := range m.Stream(t.Context(), hello()) {
		if failed = err; err == nil && e.Kind != model.EventStreamStart {
			got = append(got, partOf(t, e))
		}
	}
	if want := c.Expect.Error; want != nil {
		e, ok := errors.AsType[*model.Error](failed)
		if !ok || e.Status != want.StatusCode || want.IsRetryable != nil && e.Retryable != *want.IsRetryable {
			t.Fatalf("error is %v, want %+v", failed, want)
		}
		if want.Message != "" && c.Status != 0 && e.Message != want.Message {
			t.Errorf("message is %q, want %q", e.Message, want.Message)
		}
		return
	}
	stdtest.Must(t, failed)
	var want []any
	for _, part := range c.Expect.Parts {
		v, _ := looseJSON(t, part).(map[string]any)
		if inner, ok := v["error"].(map[string]any); ok && inner["name"] != nil {
			v["error"] = "an error"
		}
		want = append(want, v)
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
}

func hello() model.Request {
	return model.Request{Messages: []modelmessage.Message{{Role: modelmessage.RoleUser, Text: "hi"}}}
}

// answers is a transport that always gives the same answer.
type answers struct {
	status int
	kind   string
	body   string
}

func (a answers) RoundTrip(req *http.Request) (*http.Response, error) {
	h := http.Header{"Content-Type": {cmp.Or(a.kind, "text/event-stream")}}
	return &http.Response{StatusCode: a.status, Header: h, Body: io.NopCloser(strings.NewReader(a.body)), Request: req}, nil
}

// partOf returns an event as a stream part of the SDK.
func partOf(t *testing.T, e model.Event) any {
	t.Helper()
	out := map[string]any{"type": string(e.Kind)}
	switch e.Kind {
	case model.EventResponseMetadata:
		stdtest.Must(t, json.Unmarshal(e.Raw, &out))
	case model.EventTextDelta, model.EventReasoningDelta, model.EventToolInputDelta:
		out["id"], out["delta"] = e.ID, e.Delta
	case model.EventToolInputStart:
		out["id"], out["toolName"] = e.ID, e.ToolName
	case model.EventToolCall:
		out["toolCallId"], out["toolName"], out["input"] = e.ID, e.ToolName, e.Input
	case model.EventError:
		out["error"] = "an error"
		if e.Raw != nil {
			out["error"] = looseJSON(t, e.Raw)
		}
	case model.EventFinish:
		reason := map[string]any{"unified": e.Finish.Unified}
		if e.Finish.Raw != "" {
			reason["raw"] = e.Finish.Raw
		}
		out["finishReason"], out["usage"] = reason, usageJSON(t, e.Usage)
	default:
		out["id"] = e.ID
	}
	if e.ProviderMetadata != nil {
		out["providerMetadata"] = looseJSON(t, e.ProviderMetadata)
	}
	return out
}

func usageJSON(t *testing.T, u model.Usage) any {
	t.Helper()
	in, out := map[string]any{}, map[string]any{}
	split := func(to map[string]any, total, part *int64, rest, name string) {
		if total == nil {
			return
		}
		var n int64
		if part != nil {
			n = *part
		}
		to["total"], to[rest], to[name] = float64(*total), float64(*total-n), float64(n)
	}
	split(in, u.InputTokens, u.CachedInputTokens, "noCache", "cacheRead")
	split(out, u.OutputTokens, u.ReasoningTokens, "text", "reasoning")
	usage := map[string]any{"inputTokens": in, "outputTokens": out}
	if u.Raw != nil {
		usage["raw"] = looseJSON(t, u.Raw)
	}
	return usage
}
