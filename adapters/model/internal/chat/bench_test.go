package chat

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	openaiapi "github.com/sashabaranov/go-openai"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

const benchChunk = `{"id":"chatcmpl-9abcdefghijkl","object":"chat.completion.chunk","created":1700000000,"model":"gpt-test-2026","service_tier":"default","system_fingerprint":"fp_abc","choices":[{"index":0,"delta":{"content":" hello"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"x8s"}`

// benchHistory is a chat of n turns of a few hundred bytes, with calls.
func benchHistory(n int) model.Request {
	req := model.Request{System: strings.Repeat("You are helpful. ", 200)}
	for i := range 12 {
		req.Tools = append(req.Tools, model.ToolSpec{Name: fmt.Sprintf("tool_%d", i), Description: strings.Repeat("does things ", 10), InputSchema: json.RawMessage(`{"type":"object","properties":{"q":{"type":"string","description":"what to look for"}}}`)})
	}
	for i := range n {
		id := fmt.Sprintf("call_%d", i)
		req.Messages = append(req.Messages,
			modelmessage.Message{Role: modelmessage.RoleUser, Parts: []modelmessage.Part{modelmessage.Text{Text: `{"t":"2026-01-02T15:04:05Z","from":"Ann"}`}, modelmessage.Text{Text: strings.Repeat("words \"quoted\"\n", 20)}}},
			modelmessage.Message{Role: modelmessage.RoleAssistant, Parts: []modelmessage.Part{modelmessage.ToolCall{ToolCallID: id, ToolName: "tool_1", Input: json.RawMessage(`{"q":"x"}`)}}},
			modelmessage.Message{Role: modelmessage.RoleTool, Parts: []modelmessage.Part{modelmessage.ToolResult{ToolCallID: id, ToolName: "tool_1", Output: modelmessage.Output{Type: modelmessage.OutputJSON, JSON: json.RawMessage(`{"hits":[1,2,3],"text":"` + strings.Repeat("found ", 60) + `"}`)}}}},
			modelmessage.Message{Role: modelmessage.RoleAssistant, Parts: []modelmessage.Part{modelmessage.Text{Text: strings.Repeat("an answer ", 30)}}})
	}
	return req
}

// BenchmarkBody compares encoding a chat of 30 turns from scratch with continuing from a memo after
// one new turn.
func BenchmarkBody(b *testing.B) {
	w := hostChat(Options{})
	req := benchHistory(30)
	all := req.Messages
	b.Run("anew", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			body, err := w.Write(b.Context(), req)
			stdtest.Must(b, err)
			b.SetBytes(int64(len(closed(body))))
		}
	})
	b.Run("memo", func(b *testing.B) {
		b.ReportAllocs()
		before := req
		before.Messages = all[:len(all)-4]
		before.Memo = new(model.Memo)
		if _, err := w.Write(b.Context(), before); err != nil {
			b.Fatal(err)
		}
		kept := before.Memo.Take()
		for b.Loop() {
			next := before
			next.Messages = all
			next.Memo.Keep(kept)
			if _, err := w.Write(b.Context(), next); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkLibrary measures the library's own way, for comparison with BenchmarkBody and
// BenchmarkChunk: the same chat encoded with its request types, and one line of an answer read by
// its stream, not decoded yet. doc.go quotes the results.
func BenchmarkLibrary(b *testing.B) {
	b.Run("body", func(b *testing.B) {
		chat := benchHistory(30)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := json.Marshal(libraryRequest(chat)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("chunk", func(b *testing.B) {
		const many = 10_000
		c := Address{URL: "http://model.test/v1", Model: "m"}.Client(stream200(strings.Repeat("data: "+benchChunk+"\n\n", many)))
		var stream *openaiapi.ChatCompletionStream
		n := 0
		b.ReportAllocs()
		for b.Loop() {
			if n%many == 0 {
				var err error
				if stream, err = c.CreateChatCompletionStream(b.Context(), openaiapi.ChatCompletionRequest{Model: "m"}); err != nil {
					b.Fatal(err)
				}
			}
			n++
			if _, err := stream.RecvRaw(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// libraryRequest returns a chat of benchHistory in the library's types.
func libraryRequest(chat model.Request) openaiapi.ChatCompletionRequest {
	out := openaiapi.ChatCompletionRequest{Model: "m", Stream: true, StreamOptions: &openaiapi.StreamOptions{IncludeUsage: true}}
	out.Messages = append(out.Messages, openaiapi.ChatCompletionMessage{Role: "system", Content: chat.System})
	for _, m := range chat.Messages {
		message := openaiapi.ChatCompletionMessage{Role: string(m.Role)}
		for _, part := range m.Parts {
			switch p := part.(type) {
			case modelmessage.Text:
				message.MultiContent = append(message.MultiContent, openaiapi.ChatMessagePart{Type: openaiapi.ChatMessagePartTypeText, Text: p.Text})
			case modelmessage.ToolCall:
				message.ToolCalls = append(message.ToolCalls, openaiapi.ToolCall{ID: p.ToolCallID, Type: openaiapi.ToolTypeFunction, Function: openaiapi.FunctionCall{Name: p.ToolName, Arguments: string(p.Input)}})
			case modelmessage.ToolResult:
				message.ToolCallID, message.Content = p.ToolCallID, string(p.Output.JSON)
			default: // the benchmark has no other parts
			}
		}
		out.Messages = append(out.Messages, message)
	}
	for _, t := range chat.Tools {
		out.Tools = append(out.Tools, openaiapi.Tool{Type: openaiapi.ToolTypeFunction, Function: &openaiapi.FunctionDefinition{Name: t.Name, Description: t.Description, Parameters: t.InputSchema}})
	}
	return out
}

// stream200 responds to every request with a stream.
type stream200 string

func (s stream200) Do(req *http.Request) (*http.Response, error) {
	h := http.Header{"Content-Type": {"text/event-stream"}}
	return &http.Response{StatusCode: http.StatusOK, Header: h, Body: io.NopCloser(strings.NewReader(string(s))), Request: req}, nil
}
