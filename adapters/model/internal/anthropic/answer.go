package anthropic

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/internal/lenient"
	"github.com/shipmyagent/shipmyagent/adapters/model/internal/protocol"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

// parser turns the events of an answer into stream parts. A call is made at the end only, so that
// an answer that was cut off makes none.
type parser struct {
	protocol.Parsed

	fail      protocol.Fail
	used      func(id string) bool // ids of calls in the chat
	documents func() []document

	open    []*block
	calls   []*block
	started bool
	id      string // of the answer
	stopped bool   // the service said that the answer is over
	cited   int
	finish  *model.FinishReason
	usage   usage
}

// block is a block of content in progress.
type block struct {
	index      int
	kind       string // text, thinking or tool_use
	id         string
	name       string
	input      strings.Builder
	start, end model.EventKind
}

// usage counts tokens; later numbers replace earlier ones, except for a zero, which some services send at the end for
// what they do not count again.
type usage struct {
	input, written, read, output, thought *int64
	raw                                   json.RawMessage
}

func (p *parser) Usage() model.Usage { return p.usage.total() }

func (p *parser) Complete() bool { return p.finish != nil && len(p.open) == 0 }

func (p *parser) Over() bool { return p.stopped }

// Feed parses the data of one event.
func (p *parser) Feed(data []byte) {
	root := gjson.ParseBytes(data)
	if !lenient.Valid(data) || !root.IsObject() {
		p.Broken("broken event")
		return
	}
	kind := lenient.String(root.Get("type"))
	p.Ours = p.Ours || kind != ""
	switch kind {
	case "message_start":
		p.start(lenient.Object(root.Get("message")))
	case "content_block_start":
		p.startBlock(indexOf(root), lenient.Object(root.Get("content_block")))
	case "content_block_delta":
		p.delta(indexOf(root), lenient.Object(root.Get("delta")))
	case "content_block_stop":
		p.stopBlock(indexOf(root))
	case "message_delta":
		p.count(lenient.Object(root.Get("usage")))
		p.stop(lenient.Object(root.Get("delta")))
	case "message_stop":
		p.stopped = true
	case "message":
		p.whole(root)
	default: // ping, and events that are not known yet
		if protocol.IsError(root) {
			p.failed(root)
		}
	}
}

// failed ends the answer with an error of the service.
func (p *parser) failed(object gjson.Result) {
	p.Ours = true
	raw := json.RawMessage(strings.Clone(object.Raw))
	p.Emit(model.Event{Kind: model.EventError, Raw: raw, Err: p.fail(raw)})
}

func indexOf(event gjson.Result) int {
	n, _ := lenient.Integer(event.Get("index"))
	return n
}

// whole parses an answer in one piece, of a server that does not stream.
func (p *parser) whole(message gjson.Result) {
	p.start(message)
	for i, b := range message.Get("content").Array() {
		p.startBlock(i, lenient.Object(b))
		p.stopBlock(i)
	}
	p.stop(message)
	p.stopped = true
}

func (p *parser) start(message gjson.Result) {
	p.count(lenient.Object(message.Get("usage")))
	id := lenient.String(message.Get("id"))
	if p.started {
		if id != p.id && id != "" && p.id != "" {
			p.Broken("another answer began within this one") // from a gateway that repeated the request
		}
		return
	}
	p.started, p.id = true, id
	p.Emit(model.Event{Kind: model.EventStreamStart})
	raw := protocol.ResponseMetadata(id, lenient.String(message.Get("model")), 0)
	p.Emit(model.Event{Kind: model.EventResponseMetadata, Raw: raw})
}

func (p *parser) startBlock(index int, content gjson.Result) {
	p.stopBlock(index) // from a server that does not end blocks
	b := &block{index: index, kind: lenient.String(content.Get("type")), id: strconv.Itoa(index)}
	start := model.Event{ID: b.id}
	switch b.kind {
	case "text":
		b.start, b.end = model.EventTextStart, model.EventTextEnd
	case "thinking":
		b.start, b.end = model.EventReasoningStart, model.EventReasoningEnd
	case "redacted_thinking":
		b.kind, b.start, b.end = "thinking", model.EventReasoningStart, model.EventReasoningEnd
		start.ProviderMetadata = metadata("redactedData", lenient.String(content.Get("data")))
	case "tool_use":
		b.start, b.end = model.EventToolInputStart, model.EventToolInputEnd
		if b.name = lenient.String(content.Get("name")); b.name == "" {
			p.Broken("tool call without a name")
			return
		}
		b.id = p.freshID(lenient.String(content.Get("id")))
		start.ID, start.ToolName = b.id, b.name
		p.calls = append(p.calls, b)
	default:
		return // a block of a tool that is not offered
	}
	p.open = append(p.open, b)
	start.Kind = b.start
	p.Emit(start)
	p.begin(b, content)
}

// begin adds what the beginning of a block already has. The service itself sends everything later, but
// gateways, and servers that do not stream, send a whole block.
func (p *parser) begin(b *block, content gjson.Result) {
	if b.kind == "tool_use" {
		input := content.Get("input")
		text := lenient.Text(input)
		if input.IsObject() {
			text = string(modelmessage.AppendJSON(nil, []byte(input.Raw)))
		}
		if text != "{}" {
			p.piece(b.index, text)
		}
		return
	}
	p.piece(b.index, lenient.String(content.Get("text"))+lenient.String(content.Get("thinking")))
	p.sign(b.index, lenient.String(content.Get("signature")))
}

// freshID returns the service's id of a call, or a new one if it is missing or taken: ids must be
// unique in a whole chat.
func (p *parser) freshID(id string) string {
	taken := id == "" || p.used(id) || slices.ContainsFunc(p.calls, func(b *block) bool { return b.id == id })
	if taken {
		return protocol.NewID("toolu_")
	}
	return id
}

func (p *parser) find(index int) *block {
	for _, b := range p.open {
		if b.index == index {
			return b
		}
	}
	return nil
}

func (p *parser) delta(index int, delta gjson.Result) {
	switch lenient.String(delta.Get("type")) {
	case "text_delta":
		p.ensure(index, "text")
		p.piece(index, lenient.String(delta.Get("text")))
	case "thinking_delta":
		p.ensure(index, "thinking")
		p.piece(index, lenient.String(delta.Get("thinking")))
	case "input_json_delta":
		p.piece(index, lenient.String(delta.Get("partial_json")))
	case "signature_delta":
		p.sign(index, lenient.String(delta.Get("signature")))
	case "citations_delta":
		p.cite(lenient.Object(delta.Get("citation")))
	}
}

// ensure starts a block that its server did not start.
func (p *parser) ensure(index int, kind string) {
	if p.find(index) == nil {
		p.startBlock(index, gjson.Parse(`{"type":"`+kind+`"}`))
	}
}

// piece adds a piece of text to a block.
func (p *parser) piece(index int, text string) {
	b := p.find(index)
	if b == nil || text == "" {
		return
	}
	e := model.Event{Kind: model.EventTextDelta, ID: b.id, Delta: text}
	switch b.kind {
	case "thinking":
		e.Kind = model.EventReasoningDelta
	case "tool_use":
		e.Kind = model.EventToolInputDelta
		b.input.WriteString(text)
	}
	p.Emit(e)
}

func (p *parser) sign(index int, signature string) {
	if b := p.find(index); b != nil && b.kind == "thinking" && signature != "" {
		p.Emit(model.Event{Kind: model.EventReasoningDelta, ID: b.id, ProviderMetadata: metadata("signature", signature)})
	}
}

func (p *parser) stopBlock(index int) {
	if b := p.find(index); b != nil {
		p.Emit(model.Event{Kind: b.end, ID: b.id})
		p.open = slices.DeleteFunc(p.open, func(o *block) bool { return o == b })
	}
}

// cite turns a citation of a document into a source.
func (p *parser) cite(c gjson.Result) {
	n, ok := lenient.Integer(c.Get("document_index"))
	documents := p.documents()
	kind := lenient.String(c.Get("type"))
	if !ok || n < 0 || n >= len(documents) || kind != "page_location" && kind != "char_location" {
		return
	}
	title := lenient.String(c.Get("document_title"))
	if title == "" {
		title = documents[n].title
	}
	p.cited++
	raw := protocol.AppendString([]byte(`{"type":"source","sourceType":"document","id":`), "source-"+strconv.Itoa(p.cited))
	raw = protocol.AppendString(protocol.AppendMember(raw, "mediaType"), documents[n].mediaType)
	raw = protocol.AppendString(protocol.AppendMember(raw, "title"), title)
	p.Emit(model.Event{Kind: model.EventSource, Raw: append(raw, '}'), ProviderMetadata: metadata("citedText", lenient.String(c.Get("cited_text")))})
}

// stop notes why the model stopped.
func (p *parser) stop(delta gjson.Result) {
	if reason := lenient.String(delta.Get("stop_reason")); reason != "" {
		p.finish = &model.FinishReason{Unified: protocol.Unified(reason), Raw: reason}
	}
}

func (p *parser) count(u gjson.Result) {
	if !u.Exists() {
		return
	}
	set := func(to **int64, path string) {
		if n := u.Get(path); n.Type == gjson.Number && (n.Num > 0 || n.Num == 0 && *to == nil) {
			*to = new(n.Int())
		}
	}
	set(&p.usage.input, "input_tokens")
	set(&p.usage.written, "cache_creation_input_tokens")
	set(&p.usage.read, "cache_read_input_tokens")
	set(&p.usage.output, "output_tokens")
	set(&p.usage.thought, "output_tokens_details.thinking_tokens")
	p.usage.raw = json.RawMessage(strings.Clone(u.Raw))
}

// total returns the usage in the terms of the SDK: the input includes the cached tokens.
func (u usage) total() model.Usage {
	out := model.Usage{CachedInputTokens: u.read, CacheWriteTokens: u.written, OutputTokens: u.output, ReasoningTokens: u.thought, Raw: u.raw}
	if u.input != nil {
		sum := *u.input
		for _, n := range []*int64{u.written, u.read} {
			if n != nil {
				sum += *n
			}
		}
		out.InputTokens = &sum
	}
	return out
}

// Close ends the answer: open blocks end, calls are made and the finish comes last. An error means
// that the answer was cut off.
func (p *parser) Close(bool) error {
	if p.finish == nil && !p.stopped {
		return &model.Error{Reason: model.ReasonCut, Retryable: true, Message: "Response stream ended without a stop reason."}
	}
	for len(p.open) > 0 {
		p.stopBlock(p.open[0].index)
	}
	for _, c := range p.calls {
		input := c.input.String()
		if input == "" {
			input = "{}"
		}
		p.Emit(model.Event{Kind: model.EventToolCall, ID: c.id, ToolName: c.name, Input: input})
	}
	if p.finish == nil {
		p.finish = &model.FinishReason{Unified: "other"}
	}
	p.Emit(model.Event{Kind: model.EventFinish, Finish: *p.finish, Usage: p.usage.total()})
	return nil
}
