package answer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/internal/lenient"
	"github.com/shipmyagent/shipmyagent/adapters/model/internal/protocol"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

// Ids of the blocks, for which this protocol has none.
const (
	textID      = "txt-0"
	reasoningID = "reasoning-0"
)

// finishMetadata is what the SDK adds to every finish.
const finishMetadata = `{"openaiCompatible":{}}`

var (
	// errBadAnswer is wrapped by faults of an answer that no part can represent.
	errBadAnswer = errors.New("invalid response")
	// errFailed is the fault of an answer that its service ended with an error.
	errFailed = errors.New("the service failed within the answer")
)

// Parser turns the data of chat-completions events into stream parts, in the order of the SDK:
// blocks of text and reasoning alternate, and calls are complete only at the end.
type Parser struct {
	// exact refuses calls without an id; otherwise they get a new one.
	exact bool
	// used reports ids that a call must not have, because the chat already contains them.
	used func(id string) bool
	// fail makes the error for an error object; exact parsers keep the object, too.
	fail func(object json.RawMessage) *model.Error

	tags      tagFilter
	out       []model.Event
	begun     bool
	text      bool
	reasoning bool
	calls     []*call
	finish    *model.FinishReason
	// ended means that the finish reason arrived on its own, without content after it. It is never
	// set for servers that send a reason with every piece.
	ended bool
	// fed means that there was an object, answer that one had a list of choices, as every model's
	// answer does.
	fed, answer bool
	// whole means that a message arrived in one piece, which needs no finish reason.
	whole bool
	// refused means that the text is the model's refusal.
	refused bool
	usage   json.RawMessage
	// counted means that the usage arrived without content, as it does at the end.
	counted bool
}

// call is a tool call in progress.
type call struct {
	index     int
	wireID    string // the server's id
	id        string // our id
	name      string
	arguments strings.Builder
	announced bool
	signature string
}

// NewParser returns a parser of one answer, whose first event is the start of the stream. Text between tags of the given
// names, which may have brackets, becomes reasoning. fail makes an error of the stream's error object. used reports the
// ids of calls that the chat already contains; it may be nil.
func NewParser(exact bool, tags []string, fail func(object json.RawMessage) *model.Error, used func(id string) bool) Parser {
	p := Parser{exact: exact, tags: tagFilter{names: tagNames(tags)}, fail: fail, used: used}
	p.emit(model.Event{Kind: model.EventStreamStart})
	return p
}

func (p *Parser) emit(e model.Event) { p.out = append(p.out, e) }

// Events returns what was parsed since the last call. The slice is reused.
func (p *Parser) Events() []model.Event {
	out := p.out
	p.out = p.out[:0]
	return p.tags.filter(out)
}

// Usage implements [protocol.Parser].
func (p *Parser) Usage() model.Usage { return usageOf(p.usage) }

// Complete implements [protocol.Parser].
func (p *Parser) Complete() bool { return p.ended }

// Over implements [protocol.Parser]. It is never true, because the usage may always follow.
func (*Parser) Over() bool { return false }

// Known implements [protocol.Parser]. Objects are foreign if an answer of a model has none of them;
// an exact parser accepts them.
func (p *Parser) Known() bool { return p.exact || !p.fed || p.answer || p.finish != nil }

// Feed parses the data of one event. It does not retain it.
func (p *Parser) Feed(data []byte) {
	said, going := len(p.out), p.finish == nil
	p.feedChunk(data)
	p.ended = (p.ended || going) && p.finish != nil && len(p.out) == said
}

func (p *Parser) feedChunk(data []byte) {
	if !lenient.Valid(data) {
		err := json.Unmarshal(data, new(json.RawMessage)) // for the position of the error
		p.broken(fmt.Errorf("broken event: %w", cmp.Or(err, errBadAnswer)))
		return
	}
	root := gjson.ParseBytes(data)
	if !root.IsObject() {
		p.broken(fmt.Errorf("broken event: %w", errBadAnswer))
		return
	}
	c := readChunk(root)
	first, ok := c.first()
	if !p.exact && lenient.Present(first.failure) {
		c.failure = first.failure
	}
	if object, ok := c.errorIn(root); ok {
		p.finish = &model.FinishReason{Unified: "error"}
		raw := bytes.TrimSpace([]byte(object.Raw))
		p.emit(model.Event{Kind: model.EventError, Raw: raw, Err: p.fail(raw)})
		return
	}
	p.fed, p.answer = true, p.answer || c.choices.IsArray()
	p.begin(&c)
	if usage := c.usageIn(first); lenient.Present(usage) {
		p.usage, p.counted = json.RawMessage(usage.Raw), p.counted || !ok
	}
	if ok {
		p.choice(first)
	}
}

// broken reports data that is not a chunk; reading continues.
func (p *Parser) broken(err error) {
	p.finish = &model.FinishReason{Unified: "error"}
	p.emit(model.Event{Kind: model.EventError, Err: &model.Error{Reason: model.ReasonCut, Retryable: true, Message: err.Error(), Err: err}})
}

// begin reports the response metadata in the first chunk. Some servers first send a chunk without
// an answer.
func (p *Parser) begin(c *chunk) {
	id := lenient.String(c.id)
	if p.begun || !p.exact && id == "" && !c.choices.Get("0").Exists() {
		return
	}
	p.begun = true
	p.emit(model.Event{Kind: model.EventResponseMetadata, Raw: protocol.ResponseMetadata(id, lenient.String(c.model), c.created.Num)})
}

func (p *Parser) choice(c choice) {
	reason := lenient.String(c.finish)
	if reason == "error" && !p.exact {
		p.broken(errFailed)
		return
	}
	if reason != "" {
		p.finish = &model.FinishReason{Unified: protocol.Unified(reason), Raw: reason}
		if p.exact {
			p.finish.Unified = unified(reason)
		}
	}
	added := c.delta
	if !lenient.Present(added) {
		added = c.message
		p.whole = p.whole || lenient.Present(added)
	}
	if !lenient.Present(added) {
		return
	}
	d := readDelta(added)
	if !lenient.Present(d.reasoning) {
		d.reasoning = d.thoughts
	}
	p.reason(lenient.String(d.reasoning))
	p.content(d.content)
	if !p.exact {
		p.refuse(lenient.String(d.refusal))
	}
	d.calls.ForEach(func(_, call gjson.Result) bool {
		p.endReasoning()
		p.call(lenient.Object(call))
		return true
	})
}

// unified returns the reason in the terms of the SDK, which does not know those of some servers.
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

// refuse adds text in which the model refuses to answer. People read it like other text; the finish
// reason marks it as a refusal.
func (p *Parser) refuse(s string) {
	if s != "" {
		p.refused = true
		p.say(s)
	}
}

// content adds content: a string, a list of parts of text, thinking and refusal, or one such part.
func (p *Parser) content(r gjson.Result) {
	switch {
	case r.IsArray():
		for _, part := range r.Array() {
			p.part(lenient.Object(part))
		}
	case r.IsObject():
		p.part(r)
	default:
		p.say(lenient.String(r))
	}
}

func (p *Parser) part(r gjson.Result) {
	switch r.Get("type").Str {
	case "text", "output_text":
		p.say(lenient.String(r.Get("text")))
	case "refusal":
		p.refuse(lenient.String(r.Get("refusal")))
	case "thinking":
		var text strings.Builder
		text.WriteString(lenient.String(r.Get("thinking")))
		for _, piece := range r.Get("thinking.#.text").Array() {
			text.WriteString(lenient.String(piece))
		}
		p.reason(text.String())
	}
}

func (p *Parser) say(s string) {
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

func (p *Parser) reason(s string) {
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

func (p *Parser) endText() {
	if p.text {
		p.text = false
		p.emit(model.Event{Kind: model.EventTextEnd, ID: textID})
	}
}

func (p *Parser) endReasoning() {
	if p.reasoning {
		p.reasoning = false
		p.emit(model.Event{Kind: model.EventReasoningEnd, ID: reasoningID})
	}
}

// call adds a piece of a tool call.
func (p *Parser) call(r gjson.Result) {
	wireID, name, arguments := lenient.String(r.Get("id")), lenient.String(r.Get("function.name")), lenient.Text(r.Get("function.arguments"))
	c := p.find(r.Get("index"), wireID, name)
	if !p.exact && c.wireID+wireID == "" && c.name != "" && name != "" && strings.TrimSpace(arguments) != "" && lenient.Valid([]byte(c.arguments.String())) {
		c = p.open(c.index) // another call with the same index
	}
	c.name = cmp.Or(c.name, name)
	c.wireID = cmp.Or(c.wireID, wireID)
	c.signature = cmp.Or(lenient.String(r.Get("extra_content.google.thought_signature")), c.signature)
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

// find returns the call that a piece belongs to: by its index, or by its id if the index is
// missing. Some servers give every call the same index: a new id with a name is then a new call,
// and so is a name without an index and an id.
func (p *Parser) find(index gjson.Result, id, name string) *call {
	n, indexed := lenient.Integer(index)
	for _, c := range slices.Backward(p.calls) {
		switch {
		case indexed && c.index != n:
		case id != "" && c.wireID != "" && id != c.wireID && (name != "" || !indexed):
		case !indexed && id == "" && name != "" && c.name != "":
			return p.open(len(p.calls))
		default:
			return c
		}
	}
	if !indexed {
		n = len(p.calls)
	}
	return p.open(n)
}

func (p *Parser) open(index int) *call {
	c := &call{index: index}
	p.calls = append(p.calls, c)
	return c
}

// freshID returns the server's id of a call, or a new one if it is missing or taken: ids must be
// unique in a whole chat.
func (p *Parser) freshID(id string) string {
	if p.exact {
		return id
	}
	taken := id == "" || p.used != nil && p.used(id)
	for _, c := range p.calls {
		taken = taken || c.id == id
	}
	if taken {
		return protocol.NewID("call_")
	}
	return id
}

// Close ends the answer: open blocks end, calls are emitted by index and the finish comes last. done
// means that the server said that the answer is complete. An error means that the answer as a whole
// is unusable.
func (p *Parser) Close(done bool) error {
	if p.finish == nil && !p.exact {
		if !done && !p.counted && !p.whole {
			return errCut()
		}
		p.finish = &model.FinishReason{Unified: "other"} // ended properly: its text is kept
	}
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
			raw := modelmessage.AppendString([]byte(`{"google":{"thoughtSignature":`), c.signature)
			e.ProviderMetadata = append(raw, '}', '}')
		}
		p.emit(e)
	}
	if p.finish == nil {
		p.finish = &model.FinishReason{Unified: "error"}
		p.emit(model.Event{Kind: model.EventError, Err: errCut()})
	}
	if p.refused && p.finish.Unified == "stop" {
		p.finish = &model.FinishReason{Unified: "content-filter", Raw: model.FinishRefusal}
	}
	p.emit(model.Event{Kind: model.EventFinish, Finish: *p.finish, Usage: usageOf(p.usage), ProviderMetadata: json.RawMessage(finishMetadata)})
	return nil
}

// errCut returns the error for an answer without a finish reason.
func errCut() *model.Error {
	return &model.Error{Reason: model.ReasonCut, Retryable: true, Message: "Response stream ended without a finish reason."}
}
