package responses

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	openaiapi "github.com/sashabaranov/go-openai"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/internal/chat"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

const benchDelta = `{"type":"response.output_text.delta","sequence_number":17,"item_id":"msg_68af4030592c81938ec0a5fbab4a3e9f05438e46b5f69a3b","output_index":1,"content_index":0,"delta":" hello","logprobs":[],"obfuscation":"x8sKq31Zab"}`

// BenchmarkDelta measures one piece of text, from the data of an event to its parts.
func BenchmarkDelta(b *testing.B) {
	p := &parser{ids: map[string]bool{}}
	data := []byte(benchDelta)
	b.ReportAllocs()
	for b.Loop() {
		p.Feed(data)
		p.Events()
	}
}

// benchChat is a chat of n turns with calls and reasoning.
func benchChat(n int) (req model.Request) {
	req.System = strings.Repeat("You are helpful. ", 200)
	for i := range 12 {
		req.Tools = append(req.Tools, model.ToolSpec{Name: fmt.Sprintf("tool_%d", i), Description: strings.Repeat("does things ", 10), InputSchema: json.RawMessage(`{"type":"object","properties":{"q":{"type":"string"}}}`)})
	}
	for i := range n {
		id := fmt.Sprintf("call_%d", i)
		thought := modelmessage.Reasoning{ProviderOptions: metadata("itemId", fmt.Sprintf("rs_%d", i), "reasoningEncryptedContent", strings.Repeat("gAAA", 500))}
		req.Messages = append(req.Messages,
			modelmessage.Message{Role: modelmessage.RoleUser, Parts: []modelmessage.Part{modelmessage.Text{Text: strings.Repeat("words \"quoted\"\n", 20)}}},
			modelmessage.Message{Role: modelmessage.RoleAssistant, Parts: []modelmessage.Part{thought, modelmessage.ToolCall{ToolCallID: id, ToolName: "tool_1", Input: json.RawMessage(`{"q":"x"}`)}}},
			modelmessage.Message{Role: modelmessage.RoleTool, Parts: []modelmessage.Part{modelmessage.ToolResult{ToolCallID: id, ToolName: "tool_1", Output: modelmessage.Output{Type: modelmessage.OutputText, Text: strings.Repeat("found ", 60)}}}},
			modelmessage.Message{Role: modelmessage.RoleAssistant, Parts: []modelmessage.Part{modelmessage.Text{Text: strings.Repeat("an answer ", 30)}}})
	}
	return req
}

// BenchmarkBody continues the request of a chat of 30 turns from a memo after one new turn, and
// lists what may be refused of it.
func BenchmarkBody(b *testing.B) {
	p := newProtocol(Options{})
	req := benchChat(30)
	before := req
	before.Messages, before.Memo = req.Messages[:len(req.Messages)-4], new(model.Memo)
	if _, err := p.Write(b.Context(), before); err != nil {
		b.Fatal(err)
	}
	kept := before.Memo.Take()
	b.ReportAllocs()
	for b.Loop() {
		next := before
		next.Messages = req.Messages
		next.Memo.Keep(kept)
		p.Shown(next)
		if _, err := p.Write(b.Context(), next); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLibrary measures the library's own way, for comparison: the same chat encoded with its
// request types, and one piece of text read by its stream. doc.go quotes the results.
func BenchmarkLibrary(b *testing.B) {
	b.Run("body", func(b *testing.B) {
		req := libraryRequest(benchChat(30))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := json.Marshal(req); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("delta", func(b *testing.B) {
		const many = 10_000
		c := chat.Address{URL: "http://model.test/v1"}.Client(responds(strings.Repeat("event: response.output_text.delta\ndata: "+benchDelta+"\n\n", many)))
		var stream *openaiapi.ResponseStream
		n := 0
		b.ReportAllocs()
		for b.Loop() {
			if n%many == 0 {
				var err error
				if stream, err = c.CreateResponseStream(b.Context(), openaiapi.CreateResponseRequest{}); err != nil {
					b.Fatal(err)
				}
			}
			n++
			if _, err := stream.Recv(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// libraryRequest returns a chat of benchChat in the library's types. It has none for calls and
// reasoning.
func libraryRequest(req model.Request) openaiapi.CreateResponseRequest {
	var input []any
	for _, m := range req.Messages {
		for _, part := range m.Parts {
			switch p := part.(type) {
			case modelmessage.Text:
				input = append(input, openaiapi.ResponseInputMessage{Role: string(m.Role), Content: []any{openaiapi.ResponseInputText{Type: "input_text", Text: p.Text}}})
			case modelmessage.Reasoning:
				input = append(input, map[string]any{"type": "reasoning", "id": own(p.ProviderOptions, "itemId"), "summary": []any{}, "encrypted_content": own(p.ProviderOptions, "reasoningEncryptedContent")})
			case modelmessage.ToolCall:
				input = append(input, map[string]any{"type": "function_call", "call_id": p.ToolCallID, "name": p.ToolName, "arguments": string(p.Input)})
			case modelmessage.ToolResult:
				input = append(input, openaiapi.ResponseFunctionCallOutput{Type: "function_call_output", CallID: p.ToolCallID, Output: p.Output.Text})
			default: // the benchmark has no other parts
			}
		}
	}
	out := openaiapi.CreateResponseRequest{Model: "m", Stream: true, Instructions: req.System, Input: input}
	for _, t := range req.Tools {
		out.Tools = append(out.Tools, openaiapi.NewResponseFunctionTool(openaiapi.FunctionDefinition{Name: t.Name, Description: t.Description, Parameters: t.InputSchema}))
	}
	return out
}
