package anthropictest

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
)

// pieceLength is the number of characters of a tool's input that are sent at once.
const pieceLength = 16

// fields are a JSON object to send.
type fields map[string]any

// answer writes the events of a model as the events of the protocol. It has one block open at a
// time, as the service does.
type answer struct {
	server *Server
	body   wireBody
	*modeltest.Stream

	index    int    // of the open block, otherwise of the next one
	kind, id string // of the open block; without a kind none is open
	thinking string // text of the open block
	thought  string // of the open block, if it is known from the start

	thoughts []string // of all blocks
	calls    []string
	bytes    int // of the answer
	hidden   int // of its thinking
}

// Request implements [modeltest.Answer].
func (o *answer) Request() model.Request { return o.body.request() }

// Account implements [modeltest.Answer]. The call's cache entries exist from the beginning of its answer.
func (o *answer) Account() modeltest.Accounting {
	return o.server.cache.account(o.body.positions(), leastCached)
}

// Fail implements [modeltest.Answer].
func (o *answer) Fail(_ *modeltest.Stream, e *model.Error) bool {
	if e.Reason != model.ReasonOverloaded && e.Reason != model.ReasonRate {
		return false
	}
	o.send("error", fields{"error": errorObject(e)})
	return true
}

// Event implements [modeltest.Answer].
func (o *answer) Event(s *modeltest.Stream, e model.Event) error {
	o.Stream = s
	switch e.Kind {
	case model.EventTextStart:
		o.open("text", e.ID, fields{"text": ""})
	case model.EventTextDelta:
		o.open("text", e.ID, fields{"text": ""})
		o.delta("text_delta", "text", e.Delta)
	case model.EventReasoningStart, model.EventReasoningDelta:
		o.reason(e)
	case model.EventToolInputStart:
		o.tool(e)
	case model.EventToolInputDelta:
		if o.id != e.ID || o.kind != "tool_use" {
			return fmt.Errorf("the input of call %q continues after its block ended", e.ID)
		}
		o.input(e.Delta)
	case model.EventToolCall:
		if !slices.Contains(o.calls, e.ID) {
			o.tool(e)
			o.input(e.Input)
		}
	case model.EventTextEnd, model.EventReasoningEnd, model.EventToolInputEnd:
		if o.id == e.ID {
			o.close()
		}
	case model.EventFinish:
		o.finish(e)
	default: // the protocol has no word for the others
	}
	return nil
}

func (o *answer) reason(e model.Event) {
	var metadata struct{ Anthropic struct{ RedactedData string } }
	if json.Unmarshal(e.ProviderMetadata, &metadata) == nil && metadata.Anthropic.RedactedData != "" {
		o.open("redacted_thinking", e.ID, fields{"data": metadata.Anthropic.RedactedData})
		o.thought = "redacted_thinking " + metadata.Anthropic.RedactedData
		return
	}
	o.open("thinking", e.ID, fields{"thinking": "", "signature": ""})
	o.thinking += e.Delta
	if e.Delta != "" {
		o.delta("thinking_delta", "thinking", e.Delta)
	}
}

func (o *answer) tool(e model.Event) {
	o.calls = append(o.calls, e.ID)
	o.open("tool_use", e.ID, fields{"id": e.ID, "name": e.ToolName, "input": fields{}})
	o.delta("input_json_delta", "partial_json", "")
}

func (o *answer) input(text string) {
	for piece := range slices.Chunk([]rune(text), pieceLength) {
		o.delta("input_json_delta", "partial_json", string(piece))
	}
}

// open starts a block, unless it is the open one.
func (o *answer) open(kind, id string, block fields) {
	if o.kind == kind && o.id == id {
		return
	}
	o.begin()
	o.close()
	o.kind, o.id = kind, id
	block["type"] = kind
	o.send("content_block_start", fields{"index": o.index, "content_block": block})
	if o.index == 0 {
		o.send("ping", fields{})
	}
}

func (o *answer) delta(kind, member string, value any) {
	if text, ok := value.(string); ok {
		o.bytes += len(text)
	}
	o.send("content_block_delta", fields{"index": o.index, "delta": fields{"type": kind, member: value}})
}

func (o *answer) close() {
	if o.kind == "" {
		return
	}
	if o.kind == "thinking" {
		signature := signer(o.server.key).sign(o.thinking)
		o.thought = "thinking " + signature
		o.hidden += len(o.thinking)
		o.send("content_block_delta", fields{"index": o.index, "delta": fields{"type": "signature_delta", "signature": signature}})
	}
	o.send("content_block_stop", fields{"index": o.index})
	o.thoughts = append(o.thoughts, o.thought)
	o.index++
	o.kind, o.id, o.thinking, o.thought = "", "", "", ""
}

func (o *answer) begin() {
	if o.Begun {
		return
	}
	o.server.number(o.Header())
	o.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	o.send("message_start", fields{"message": fields{
		"id": fmt.Sprintf("msg_%04d", o.Call), "type": "message", "role": "assistant", "model": o.body.Model, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": o.usage(1),
	}})
}

// finish writes the end. When it is read, the call is accounted for and its thinking is known.
func (o *answer) finish(e model.Event) {
	o.begin()
	o.close()
	output := o.bytes/4 + 1
	if e.Usage.OutputTokens != nil {
		output = int(*e.Usage.OutputTokens)
	}
	o.Finish(output)
	o.server.Locked(func(*modeltest.Record) {
		for _, id := range o.calls {
			o.server.answers[id] = append(o.server.answers[id], fingerprint(o.thoughts))
		}
		for _, t := range o.thoughts {
			o.server.thoughts[t] = true
		}
	})
	delta := fields{"stop_reason": stopReason(e.Finish), "stop_sequence": nil}
	if delta["stop_reason"] == "refusal" {
		delta["stop_details"] = fields{"type": "refusal", "category": nil, "explanation": nil}
	}
	usage := o.usage(output)
	usage["output_tokens_details"] = fields{"thinking_tokens": o.hidden / 4}
	o.send("message_delta", fields{"delta": delta, "usage": usage})
	o.send("message_stop", fields{})
}

func (o *answer) usage(output int) fields {
	return fields{
		"input_tokens": o.Bill.InputTokens - o.Bill.CacheRead - o.Bill.CacheWrite, "cache_read_input_tokens": o.Bill.CacheRead, "cache_creation_input_tokens": o.Bill.CacheWrite,
		"output_tokens": output,
	}
}

// stopReason returns the provider's own reason if the script has one.
func stopReason(f model.FinishReason) string {
	switch f.Raw {
	case "end_turn", "max_tokens", "stop_sequence", "tool_use", "pause_turn", "refusal", "model_context_window_exceeded":
		return f.Raw
	}
	switch f.Unified {
	case "length":
		return "max_tokens"
	case "tool-calls":
		return "tool_use"
	case "content-filter":
		return "refusal"
	default:
		return "end_turn"
	}
}

func (o *answer) send(event string, data fields) {
	data["type"] = event
	o.Send(event, data)
}
