package openai

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model"
)

// Ids of the blocks that this protocol does not name.
const (
	textID      = "txt-0"
	reasoningID = "reasoning-0"
)

// finishMetadata is what the SDK puts beside every finish.
const finishMetadata = `{"openaiCompatible":{}}`

// errBadAnswer is wrapped by faults of an answer that no part can carry.
var errBadAnswer = errors.New("invalid response")

// parser turns the data of chat-completions events into stream parts, in the
// order of the SDK: blocks of text and reasoning take turns, calls are whole only
// at the end.
type parser struct {
	// exact refuses calls without an id; otherwise they get one.
	exact bool
	// used tells ids that a call must not have, as the chat knows them already.
	used func(id string) bool
	// fail makes the error of an error object; exact parsers keep the object too.
	fail func(object json.RawMessage) *model.Error

	out       []model.Event
	begun     bool
	text      bool
	reasoning bool
	calls     []*call
	finish    *model.FinishReason
	// ended says that the finish reason came by itself, and nothing to say behind it:
	// the answer is whole, and at most its usage is still to come. Servers that give a
	// reason with every piece never get there.
	ended bool
	// fed says that there was an object, answer that one had a list of choices, as
	// every model's answer has.
	fed, answer bool
	// whole says that a message came in one piece, which needs no finish reason.
	whole bool
	// refused says that the words are the model's refusal.
	refused bool
	usage   json.RawMessage
}

// call is a tool call on its way.
type call struct {
	index     int
	wireID    string // as the server calls it
	id        string // as we do
	name      string
	arguments strings.Builder
	announced bool
	signature string
}

func (p *parser) emit(e model.Event) { p.out = append(p.out, e) }

// events returns what was found since the last call. The slice is used again.
func (p *parser) events() []model.Event {
	out := p.out
	p.out = p.out[:0]
	return out
}

// feed takes the data of one event. It keeps nothing of it.
func (p *parser) feed(data []byte) {
	said, going := len(p.out), p.finish == nil
	if !p.begun || !p.feedText(data) {
		p.feedChunk(data)
	}
	p.ended = (p.ended || going) && p.finish != nil && len(p.out) == said
}

// feedText takes a chunk that only has text.
func (p *parser) feedText(data []byte) bool {
	c, ok := readTextChunk(data)
	if !ok {
		return false
	}
	reasoning, fine := textOfToken(c.reasoning)
	content, ok := textOfToken(c.content)
	if !ok || !fine {
		return false
	}
	p.reason(reasoning)
	p.say(content)
	return true
}

func (p *parser) feedChunk(data []byte) {
	var c chunk
	data = bytes.TrimSpace(data)
	err := decodeChunk(data, &c)
	if err == nil && data[0] != '{' {
		err = errBadAnswer
	}
	if err != nil {
		p.broken(fmt.Errorf("broken event: %w", err))
		return
	}
	if object := c.errorOf(data); object != nil {
		p.finish = &model.FinishReason{Unified: "error"}
		object = append(json.RawMessage(nil), object...)
		p.emit(model.Event{Kind: model.EventError, Raw: object, Err: p.fail(object)})
		return
	}
	p.fed, p.answer = true, p.answer || c.Choices != nil
	p.begin(&c)
	if usage := c.usage(); usage != nil {
		p.usage = append(json.RawMessage(nil), usage...)
	}
	for i := range c.Choices {
		if c.Choices[i].Index == 0 {
			p.choice(&c.Choices[i])
			break
		}
	}
}

// broken reports text that is no chunk; reading goes on.
func (p *parser) broken(err error) {
	p.finish = &model.FinishReason{Unified: "error"}
	p.emit(model.Event{Kind: model.EventError, Err: &model.Error{Reason: model.ReasonCut, Retryable: true, Message: err.Error(), Err: err}})
}

func (p *parser) begin(c *chunk) {
	if p.begun || !p.exact && c.ID == "" && len(c.Choices) == 0 {
		return // some servers send a word before the answer
	}
	p.begun = true
	raw := []byte(`{`)
	member := func(name, value string) {
		if value != "" {
			if len(raw) > 1 {
				raw = append(raw, ',')
			}
			raw = append(appendString(raw, name), ':')
			raw = appendString(raw, value)
		}
	}
	member("id", c.ID)
	member("modelId", c.Model)
	if c.Created > 0 && c.Created < 1e11 {
		member("timestamp", time.UnixMilli(int64(c.Created*1000)).UTC().Format("2006-01-02T15:04:05.000Z"))
	}
	p.emit(model.Event{Kind: model.EventResponseMetadata, Raw: append(raw, '}')})
}

func (p *parser) choice(c *choice) {
	if c.FinishReason != nil && *c.FinishReason != "" {
		p.finish = &model.FinishReason{Unified: unified(*c.FinishReason), Raw: *c.FinishReason}
		if !p.exact {
			p.finish.Unified = otherWords(*p.finish)
		}
	}
	d := c.Delta
	if d == nil {
		d = c.Message
		p.whole = p.whole || d != nil
	}
	if d == nil {
		return
	}
	reasoning := d.ReasoningContent
	if isNull(reasoning) {
		reasoning = d.Reasoning
	}
	if !isNull(reasoning) && reasoning[0] == '"' {
		p.reason(rawText(reasoning))
	}
	p.content(d.Content)
	if words := d.Refusal; !p.exact && !isNull(words) && words[0] == '"' {
		p.refuse(rawText(words))
	}
	for i := range d.ToolCalls {
		p.endReasoning()
		p.call(&d.ToolCalls[i])
	}
}

// unified is the reason in the words of the SDK, which does not know those of some
// servers.
func unified(reason string) string {
	switch reason {
	case "stop":
		return "stop"
	case "length":
		return "length"
	case "content_filter":
		return "content-filter"
	case "tool_calls", "function_call":
		return "tool-calls"
	default:
		return "other"
	}
}

// otherWords is the unified reason for words that the SDK does not know and providers
// use nevertheless.
func otherWords(f model.FinishReason) string {
	if f.Unified != "other" {
		return f.Unified
	}
	switch strings.ToLower(f.Raw) {
	case "stop", "stop_sequence", "eos", "eos_token", "end_turn", "complete", "completed":
		return "stop"
	case "tool_use":
		return "tool-calls"
	case "max_tokens", "max_output_tokens", "model_length":
		return "length"
	case "refusal", "safety", "sensitive", "recitation", "blocklist", "prohibited_content", "spii", "guardrail_intervened":
		return "content-filter"
	default:
		return "other"
	}
}

// refuse takes words by which the model says that it will not answer. People read
// them like any other text; the reason of the answer's end tells them apart.
func (p *parser) refuse(s string) {
	if s != "" {
		p.refused = true
		p.say(s)
	}
}

// unnamed gives an answer that its server ended in order, yet without a reason, the
// finish reason "other", so that its words are kept.
func (p *parser) unnamed() { p.finish = &model.FinishReason{Unified: "other"} }

// content is a string, or parts of text, thinking and refusal, or one such part.
func (p *parser) content(raw json.RawMessage) {
	if isNull(raw) {
		return
	}
	if raw[0] == '"' {
		p.say(rawText(raw))
		return
	}
	var parts []struct {
		Type     string          `json:"type"`
		Text     string          `json:"text"`
		Thinking json.RawMessage `json:"thinking"`
		Refusal  string          `json:"refusal"`
	}
	if raw[0] == '{' {
		raw = slices.Concat(json.RawMessage("["), raw, json.RawMessage("]"))
	}
	if decodeLoose(raw, &parts) != nil {
		return
	}
	for _, part := range parts {
		switch part.Type {
		case "text", "output_text":
			p.say(part.Text)
		case "refusal":
			p.refuse(part.Refusal)
		case "thinking":
			p.reason(thinkingText(part.Thinking))
		}
	}
}

func thinkingText(raw json.RawMessage) string {
	if isNull(raw) || raw[0] == '"' {
		return rawText(raw)
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if decodeLoose(raw, &parts) != nil {
		return ""
	}
	var b strings.Builder
	for _, part := range parts {
		b.WriteString(part.Text)
	}
	return b.String()
}

func (p *parser) say(s string) {
	if s == "" {
		return
	}
	p.endReasoning()
	if !p.text {
		p.text = true
		p.emit(model.Event{Kind: model.EventTextStart, ID: textID})
	}
	p.emit(model.Event{Kind: model.EventTextDelta, ID: textID, Delta: s})
}

func (p *parser) reason(s string) {
	if s == "" {
		return
	}
	p.endText()
	if !p.reasoning {
		p.reasoning = true
		p.emit(model.Event{Kind: model.EventReasoningStart, ID: reasoningID})
	}
	p.emit(model.Event{Kind: model.EventReasoningDelta, ID: reasoningID, Delta: s})
}

func (p *parser) endText() {
	if p.text {
		p.text = false
		p.emit(model.Event{Kind: model.EventTextEnd, ID: textID})
	}
}

func (p *parser) endReasoning() {
	if p.reasoning {
		p.reasoning = false
		p.emit(model.Event{Kind: model.EventReasoningEnd, ID: reasoningID})
	}
}

func (p *parser) call(d *callDelta) {
	c := p.find(d)
	arguments := rawText(d.Function.Arguments)
	if c.name == "" {
		c.name = d.Function.Name
	}
	if c.wireID == "" {
		c.wireID = d.ID
	}
	if d.Extra.Google.ThoughtSignature != "" {
		c.signature = d.Extra.Google.ThoughtSignature
	}
	c.arguments.WriteString(arguments)
	if c.name == "" || (c.wireID == "" && p.exact) {
		return
	}
	if !c.announced {
		c.announced = true
		c.id = p.freshID(c.wireID)
		p.emit(model.Event{Kind: model.EventToolInputStart, ID: c.id, ToolName: c.name})
		arguments = c.arguments.String()
	}
	if arguments != "" {
		p.emit(model.Event{Kind: model.EventToolInputDelta, ID: c.id, Delta: arguments})
	}
}

// find returns the call that a delta belongs to: by its index, or by its id where
// the index is missing. Some servers give every call the same index: a new id
// with a name is then a new call.
func (p *parser) find(d *callDelta) *call {
	last := len(p.calls) - 1
	for i := last; i >= 0; i-- {
		c := p.calls[i]
		switch {
		case d.Index != nil && c.index != *d.Index:
		case d.ID != "" && c.wireID != "" && d.ID != c.wireID && (d.Function.Name != "" || d.Index == nil):
		case d.Index == nil && d.ID == "" && d.Function.Name != "" && c.name != "":
			// no index and no id, yet a name: a further call
			return p.open(d)
		default:
			return c
		}
	}
	return p.open(d)
}

func (p *parser) open(d *callDelta) *call {
	c := &call{index: len(p.calls)}
	if d.Index != nil {
		c.index = *d.Index
	}
	p.calls = append(p.calls, c)
	return c
}

// freshID is the server's id of a call, or a new one where there is none or it
// is taken: ids must be unique in a whole chat.
func (p *parser) freshID(id string) string {
	if p.exact {
		return id
	}
	taken := id == "" || p.used != nil && p.used(id)
	for _, c := range p.calls {
		taken = taken || c.id == id
	}
	if taken {
		return "call_" + strings.ToLower(rand.Text())
	}
	return id
}

// close ends the answer: open blocks end, calls are given out by their index and the
// finish comes last. An error means that the answer as a whole is unusable.
func (p *parser) close() error {
	p.endReasoning()
	p.endText()
	slices.SortStableFunc(p.calls, func(a, b *call) int { return cmp.Compare(a.index, b.index) })
	for _, c := range p.calls {
		if !c.announced {
			return &model.Error{Reason: model.ReasonCut, Retryable: true, Message: "tool call without name or id", Err: errBadAnswer}
		}
		p.emit(model.Event{Kind: model.EventToolInputEnd, ID: c.id})
		e := model.Event{Kind: model.EventToolCall, ID: c.id, ToolName: c.name, Input: c.arguments.String()}
		if c.signature != "" {
			raw := appendString([]byte(`{"google":{"thoughtSignature":`), c.signature)
			e.ProviderMetadata = append(raw, '}', '}')
		}
		p.emit(e)
	}
	if p.finish == nil {
		p.finish = &model.FinishReason{Unified: "error"}
		p.emit(model.Event{Kind: model.EventError, Err: errCut("")})
	}
	if p.refused && p.finish.Unified == "stop" {
		p.finish = &model.FinishReason{Unified: "content-filter", Raw: model.FinishRefusal}
	}
	p.emit(model.Event{Kind: model.EventFinish, Finish: *p.finish, Usage: usageOf(p.usage), ProviderMetadata: json.RawMessage(finishMetadata)})
	return nil
}

// errCut is the error of an answer without a finish reason.
func errCut(detail string) *model.Error {
	text := "Response stream ended without a finish reason."
	if detail != "" {
		text += " " + detail
	}
	return &model.Error{Reason: model.ReasonCut, Retryable: true, Message: text}
}
