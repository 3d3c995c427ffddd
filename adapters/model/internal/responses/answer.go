package responses

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/internal/lenient"
	"github.com/shipmyagent/shipmyagent/adapters/model/internal/protocol"
)

// parser turns the events of an answer into stream parts. A call is made at the end only, so that
// an answer that was cut off makes none.
type parser struct {
	protocol.Parsed

	fail protocol.Fail
	used func(id string) bool // ids of calls in the chat

	items     []*item
	ids       map[string]bool // of the blocks and calls
	started   bool
	described bool // the id of the answer was reported
	refused   bool // a part of the text is the model's refusal
	cited     int
	finish    *model.FinishReason
	usage     json.RawMessage
}

// item is an output item: a message, reasoning or a call. A message is one block of text, reasoning
// one block for each part of its summary.
type item struct {
	place
	kind     string
	block    string // id of the newest block; of a call, once its name is known
	part     int    // number of that block
	said     bool   // a piece of it arrived
	complete bool
	cited    bool
	phase    string // of a message
	name     string // of a call
	callID   string
	input    strings.Builder
}

// place is where an item is in the answer, as far as its server says so.
type place struct {
	index int // -1 if unknown
	id    string
}

// The kinds of items.
const (
	kindMessage   = "message"
	kindReasoning = "reasoning"
	kindCall      = "function_call"
)

func (p *parser) Complete() bool { return p.finish != nil }

func (p *parser) Over() bool { return p.finish != nil }

// failed ends the answer with an error of the service.
func (p *parser) failed(object gjson.Result) {
	raw := json.RawMessage(strings.Clone(object.Raw))
	if !object.IsObject() {
		raw = json.RawMessage(`{"message":"The response failed."}`)
	}
	p.Ours = true
	p.Emit(model.Event{Kind: model.EventError, Raw: raw, Err: p.fail(raw)})
}

// Feed parses the data of one event.
func (p *parser) Feed(data []byte) {
	root := gjson.ParseBytes(data)
	if !lenient.Valid(data) || !root.IsObject() {
		p.Broken("broken event")
		return
	}
	kind := lenient.String(root.Get("type"))
	name, ours := strings.CutPrefix(kind, "response.")
	switch {
	case ours:
		p.begin(lenient.Object(root.Get("response")))
		p.event(name, root)
	case lenient.String(root.Get("object")) == "response": // of a server that does not stream
		p.begin(root)
		p.end(lenient.String(root.Get("status")), root)
	case protocol.IsError(root):
		p.failed(root)
	}
}

// begin starts the stream, and reports what the service says of the answer.
func (p *parser) begin(response gjson.Result) {
	p.Ours = true
	if !p.started {
		p.started = true
		p.Emit(model.Event{Kind: model.EventStreamStart})
	}
	if id := lenient.String(response.Get("id")); id != "" && !p.described {
		p.described = true
		raw := protocol.ResponseMetadata(id, lenient.String(response.Get("model")), response.Get("created_at").Num)
		p.Emit(model.Event{Kind: model.EventResponseMetadata, Raw: raw})
	}
}

func (p *parser) event(name string, root gjson.Result) {
	switch name {
	case "output_item.added":
		p.add(placeOf(root), lenient.Object(root.Get("item")))
	case "output_item.done":
		p.complete(placeOf(root), lenient.Object(root.Get("item")))
	case "output_text.delta", "output_text.done":
		p.text(p.at(kindMessage, root), root, "text")
	case "refusal.delta", "refusal.done":
		p.refused = true
		p.text(p.at(kindMessage, root), root, "refusal")
	case "reasoning_summary_text.delta", "reasoning_summary_text.done":
		part, _ := lenient.Integer(root.Get("summary_index"))
		if it := p.at(kindReasoning, root); p.turn(it, part) {
			p.text(it, root, "text")
		}
	case "reasoning_text.delta", "reasoning_text.done":
		p.text(p.at(kindReasoning, root), root, "text")
	case "function_call_arguments.delta", "function_call_arguments.done":
		p.text(p.at(kindCall, root), root, "arguments")
	case "output_text.annotation.added":
		p.cite(p.at(kindMessage, root), lenient.Object(root.Get("annotation")))
	case "completed", "incomplete", "failed":
		p.end(name, lenient.Object(root.Get("response")))
	default: // events without news, and events that are not known yet
	}
}

func placeOf(event gjson.Result) place {
	at := place{index: -1, id: lenient.String(event.Get("item_id"))}
	if n, ok := lenient.Integer(event.Get("output_index")); ok {
		at.index = n
	}
	return at
}

// find returns the newest item of a kind at a place. The id counts more than the index, which some
// servers do not count.
func (p *parser) find(kind string, at place) *item {
	for _, it := range slices.Backward(p.items) {
		if it.kind == kind && at.id != "" && it.id == at.id {
			return it
		}
	}
	for _, it := range slices.Backward(p.items) {
		if it.kind == kind && (at.index < 0 || it.index == at.index) {
			return it
		}
	}
	return nil
}

// at returns the item that an event is about. It is opened if its server did not do so.
func (p *parser) at(kind string, event gjson.Result) *item {
	at := placeOf(event)
	if it := p.find(kind, at); it != nil && !it.complete {
		return it
	}
	return p.open(kind, at)
}

// open opens an item. Calls begin once their names are known.
func (p *parser) open(kind string, at place) *item {
	it := &item{place: at, kind: kind}
	p.items = append(p.items, it)
	if kind == kindReasoning {
		p.start(it)
	}
	return it
}

// add opens an item that the service describes.
func (p *parser) add(at place, object gjson.Result) {
	if kind := kindOf(object); kind != "" {
		at.id = lenient.String(object.Get("id"))
		p.describe(p.open(kind, at), object)
	}
}

// kindOf returns the kind of an item, or "" if it is of a tool that is not offered.
func kindOf(object gjson.Result) string {
	switch kind := lenient.String(object.Get("type")); kind {
	case kindMessage, kindReasoning, kindCall:
		return kind
	}
	return ""
}

// describe begins a message or a call with what the service says of it.
func (p *parser) describe(it *item, object gjson.Result) {
	switch it.kind {
	case kindMessage:
		it.phase = cmp.Or(lenient.String(object.Get("phase")), it.phase)
	case kindCall:
		it.name = cmp.Or(it.name, lenient.String(object.Get("name")))
		it.callID = cmp.Or(it.callID, lenient.String(object.Get("call_id")))
		if it.name == "" {
			return
		}
	}
	if it.block == "" {
		p.start(it)
	}
}

// start starts a block, or a call.
func (p *parser) start(it *item) {
	switch it.kind {
	case kindMessage:
		it.block = p.freshID(it.id, "msg_")
		p.Emit(model.Event{Kind: model.EventTextStart, ID: it.block, ProviderMetadata: it.metadata("")})
	case kindReasoning:
		it.block = p.freshID(it.id+":"+strconv.Itoa(it.part), "rs_")
		p.Emit(model.Event{Kind: model.EventReasoningStart, ID: it.block, ProviderMetadata: it.metadata("")})
	case kindCall:
		id := it.callID
		if p.used(id) {
			id = ""
		}
		it.block = p.freshID(id, "call_")
		p.Emit(model.Event{Kind: model.EventToolInputStart, ID: it.block, ToolName: it.name})
		if it.input.Len() > 0 {
			p.Emit(model.Event{Kind: model.EventToolInputDelta, ID: it.block, Delta: it.input.String()})
		}
	}
}

// freshID returns an id, or a new one if it is missing or taken: the ids of blocks must be unique in
// an answer, and those of calls in a whole chat.
func (p *parser) freshID(id, prefix string) string {
	if id == "" || p.ids[id] {
		id = protocol.NewID(prefix)
	}
	p.ids[id] = true
	return id
}

// metadata is what is stored with a part of the item.
func (it *item) metadata(encrypted string) json.RawMessage {
	return metadata("itemId", it.id, "reasoningEncryptedContent", encrypted, "phase", it.phase)
}

// text adds the text of an event: a piece, or the whole text if no piece of it arrived.
func (p *parser) text(it *item, event gjson.Result, whole string) {
	if delta := event.Get("delta"); delta.Exists() {
		p.piece(it, lenient.String(delta))
	} else if text := event.Get(whole); !it.said && it.kind == kindCall {
		p.piece(it, lenient.Text(text)) // some servers send the arguments as an object
	} else if !it.said {
		p.piece(it, lenient.String(text))
	}
}

func (p *parser) piece(it *item, text string) {
	if text == "" {
		return
	}
	it.said = true
	e := model.Event{Kind: model.EventTextDelta, Delta: text}
	switch it.kind {
	case kindMessage:
		if it.block == "" {
			p.start(it)
		}
	case kindReasoning:
		e.Kind = model.EventReasoningDelta
	case kindCall:
		e.Kind = model.EventToolInputDelta
		it.input.WriteString(text)
		if it.block == "" {
			return
		}
	}
	e.ID = it.block
	p.Emit(e)
}

// turn moves to a later block of reasoning, and reports whether a block is the newest one.
func (p *parser) turn(it *item, part int) bool {
	if part > it.part {
		p.Emit(model.Event{Kind: model.EventReasoningEnd, ID: it.block, ProviderMetadata: it.metadata("")})
		it.part, it.said = part, false
		p.start(it)
	}
	return part == it.part
}

// complete completes an item with what has not arrived of it yet.
func (p *parser) complete(at place, object gjson.Result) {
	kind := kindOf(object)
	if kind == "" {
		return
	}
	at.id = lenient.String(object.Get("id"))
	it := p.find(kind, at)
	if it == nil || it.complete && it.id != at.id {
		it = p.open(kind, at)
	}
	if it.complete {
		return
	}
	p.describe(it, object)
	switch kind {
	case kindMessage:
		p.fill(it, object.Get("content"))
	case kindReasoning:
		for i, part := range object.Get("summary").Array() {
			if p.turn(it, i) {
				p.text(it, lenient.Object(part), "text")
			}
		}
		p.fill(it, object.Get("content"))
	case kindCall:
		p.text(it, object, "arguments")
	}
	p.stop(it, lenient.String(object.Get("encrypted_content")))
}

// fill adds content of which no piece arrived.
func (p *parser) fill(it *item, content gjson.Result) {
	said, cited := it.said, it.cited
	for _, part := range content.Array() {
		part = lenient.Object(part)
		refusal := lenient.String(part.Get("refusal"))
		p.refused = p.refused || refusal != ""
		if !said {
			p.piece(it, lenient.String(part.Get("text"))+refusal)
		}
		for _, annotation := range part.Get("annotations").Array() {
			if !cited {
				p.cite(it, lenient.Object(annotation))
			}
		}
	}
}

// stop ends the block of an item, or the input of a call.
func (p *parser) stop(it *item, encrypted string) {
	if it.complete {
		return
	}
	it.complete = true
	e := model.Event{ID: it.block, ProviderMetadata: it.metadata(encrypted)}
	switch it.kind {
	case kindMessage:
		e.Kind = model.EventTextEnd
	case kindReasoning:
		e.Kind = model.EventReasoningEnd
	case kindCall:
		e = model.Event{Kind: model.EventToolInputEnd, ID: it.block}
	}
	if it.block != "" {
		p.Emit(e)
	}
}

// cite turns an annotation into a source.
func (p *parser) cite(it *item, a gjson.Result) {
	get := func(name string) string { return lenient.String(a.Get(name)) }
	kind := get("type")
	p.cited++
	e := model.Event{Kind: model.EventSource}
	id := "source-" + strconv.Itoa(p.cited)
	switch kind {
	case "url_citation":
		e.Raw = object("type", "source", "sourceType", "url", "id", id, "url", get("url"), "title", get("title"))
	case "file_citation":
		name := get("filename")
		e.Raw = object("type", "source", "sourceType", "document", "id", id, "mediaType", "text/plain", "title", name, "filename", name)
		e.ProviderMetadata = metadata("type", kind, "fileId", get("file_id"))
	default:
		return
	}
	it.cited = true
	p.Emit(e)
}

// end ends the answer with its status. The output of a stream counts only for items that are not
// complete, or if there were none: not all servers count the items of both alike.
func (p *parser) end(status string, response gjson.Result) {
	switch status {
	case "failed":
		p.failed(response.Get("error"))
		return
	case "completed", "incomplete", "":
	default:
		return // of an answer that the service has not finished
	}
	streamed := len(p.items) > 0
	for i, object := range response.Get("output").Array() {
		object = lenient.Object(object)
		at := place{i, lenient.String(object.Get("id"))}
		if it := p.find(kindOf(object), at); !streamed || it != nil && !it.complete {
			p.complete(at, object)
		}
	}
	why := lenient.String(response.Get("incomplete_details.reason"))
	if why == "" && status == "incomplete" {
		why = status
	}
	p.finish = p.reason(why)
	p.usage = json.RawMessage(strings.Clone(lenient.Object(response.Get("usage")).Raw))
}

// reason returns the finish reason of an answer that is incomplete for a reason, or whole.
func (p *parser) reason(incomplete string) *model.FinishReason {
	called := slices.ContainsFunc(p.items, func(it *item) bool { return it.kind == kindCall })
	switch {
	case incomplete == "max_output_tokens":
		return &model.FinishReason{Unified: "length", Raw: incomplete}
	case incomplete == "content_filter":
		return &model.FinishReason{Unified: "content-filter", Raw: incomplete}
	case called:
		return &model.FinishReason{Unified: "tool-calls", Raw: incomplete}
	case incomplete != "":
		return &model.FinishReason{Unified: "other", Raw: incomplete}
	case p.refused:
		return &model.FinishReason{Unified: "content-filter", Raw: model.FinishRefusal}
	}
	return &model.FinishReason{Unified: "stop"}
}

// Usage returns the usage in the terms of the SDK.
func (p *parser) Usage() model.Usage {
	if len(p.usage) == 0 {
		return model.Usage{}
	}
	u := gjson.ParseBytes(p.usage)
	return model.Usage{
		InputTokens:       lenient.Count(u.Get("input_tokens")),
		CachedInputTokens: lenient.Count(u.Get("input_tokens_details.cached_tokens")),
		CacheWriteTokens:  lenient.Count(u.Get("input_tokens_details.cache_write_tokens")),
		OutputTokens:      lenient.Count(u.Get("output_tokens")),
		ReasoningTokens:   lenient.Count(u.Get("output_tokens_details.reasoning_tokens")),
		Raw:               p.usage,
	}
}

// Close ends the answer: open blocks end, calls are made and the finish comes last. An error means
// that the answer was cut off.
func (p *parser) Close(bool) error {
	if p.finish == nil {
		return &model.Error{Reason: model.ReasonCut, Retryable: true, Message: "Response stream ended without its last event."}
	}
	for _, it := range p.items {
		p.stop(it, "")
	}
	for _, it := range p.items {
		if it.kind != kindCall {
			continue
		}
		if it.block == "" {
			return &model.Error{Reason: model.ReasonCut, Retryable: true, Message: "tool call without a name", Err: protocol.ErrBadAnswer}
		}
		p.Emit(model.Event{Kind: model.EventToolCall, ID: it.block, ToolName: it.name, Input: cmp.Or(it.input.String(), "{}"), ProviderMetadata: it.metadata("")})
	}
	p.Emit(model.Event{Kind: model.EventFinish, Finish: *p.finish, Usage: p.Usage()})
	return nil
}
