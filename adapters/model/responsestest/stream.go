package responsestest

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
)

type object = map[string]any

type answer struct {
	s    *Server
	body *body
	*modeltest.Stream
	id     string // the suffix of all ids, which is unique even among servers
	prompt []byte
	events int

	open     *output
	done     []object // the finished items
	calls    map[string]*output
	refused  bool
	thoughts string // the id of the last reasoning item
	reasoned int    // bytes of reasoning
	said     int    // bytes of everything else
}

// output is an item that is being streamed.
type output struct {
	form
	id    string
	block string // the script's id of the block or call
	name  string // of a call
	texts []string
}

// form is what items of a type are called in events.
type form struct {
	item, prefix string
	part, index  string // a type of parts and the member that counts them; none in calls
	parts, text  string // events about a part and about its text
	member       string // holds the text
}

func forms(kind model.EventKind, block string) form {
	switch {
	case kind == model.EventReasoningStart:
		return form{typeReasoning, "rs", "summary_text", "summary_index", "response.reasoning_summary_part", "response.reasoning_summary_text", "text"}
	case kind == model.EventTextStart && block == "refusal":
		return form{typeMessage, "msg", "refusal", "content_index", "response.content_part", "response.refusal", "refusal"}
	case kind == model.EventTextStart:
		return form{typeMessage, "msg", "output_text", "content_index", "response.content_part", "response.output_text", "text"}
	}
	return form{item: typeCall, prefix: "fc", text: "response.function_call_arguments", member: "arguments"}
}

// Request implements [modeltest.Answer].
func (a *answer) Request() model.Request { return a.body.request() }

// Account implements [modeltest.Answer].
func (a *answer) Account() modeltest.Accounting {
	a.prompt = a.body.prompt()
	return a.s.cache.Account(a.body.Model+"\x00"+a.body.PromptCacheKey, a.prompt)
}

// Fail implements [modeltest.Answer].
func (a *answer) Fail(_ *modeltest.Stream, e *model.Error) bool {
	_, _, code := classify(e.Reason)
	switch e.Reason {
	case model.ReasonOverloaded:
		a.send("error", object{"code": code, "message": e.Message, "param": nil})
	case model.ReasonRate:
		a.end("failed", "error", object{"code": code, "message": e.Message})
	default:
		return false
	}
	return true
}

// Event implements [modeltest.Answer].
func (a *answer) Event(s *modeltest.Stream, e model.Event) error {
	if a.Stream == nil {
		a.Stream, a.id = s, fmt.Sprintf("%x_%d", sha256.Sum256(a.prompt), s.Call+1)[50:]
		limits(s.Header(), false, 0)
		a.send("response.created", object{"response": a.response("in_progress")})
		a.send("response.in_progress", object{"response": a.response("in_progress")})
	}
	switch e.Kind {
	case model.EventTextStart, model.EventReasoningStart, model.EventToolInputStart:
		a.start(e)
	case model.EventTextDelta, model.EventReasoningDelta, model.EventToolInputDelta:
		return a.delta(e.ID, e.Delta)
	case model.EventToolCall:
		if a.calls[e.ID] == nil {
			a.start(e)
		}
		if a.calls[e.ID].texts[0] == "" && e.Input != "" {
			return a.delta(e.ID, e.Input)
		}
	case model.EventFinish:
		return a.finish(e.Finish)
	default: // the protocol has no event for the others
	}
	return nil
}

// start begins an item and its part, or only a part if reasoning continues. The service sends one
// item after the other, so the last one is complete.
func (a *answer) start(e model.Event) {
	f := forms(e.Kind, e.ID)
	if a.open != nil && a.open.item == typeReasoning && f.item == typeReasoning {
		a.endPart()
	} else {
		a.close("completed")
		a.open = &output{form: f, id: fmt.Sprintf("%s_%s_%d", f.prefix, a.id, len(a.done)), name: e.ToolName, block: e.ID}
		a.note()
		a.send("response.output_item.added", object{"item": a.item("in_progress"), "output_index": len(a.done)})
	}
	a.open.block, a.open.texts = e.ID, append(a.open.texts, "")
	a.refused = a.refused || f.part == "refusal"
	if f.item == typeCall {
		a.calls[e.ID] = a.open
	}
	a.place(f.parts, ".added", "part", a.open.content(""))
}

func (a *answer) delta(block, text string) error {
	o := a.open
	if o == nil || o.block != block {
		return fmt.Errorf("the script goes on with %q, which is not the last item", block)
	}
	o.texts[len(o.texts)-1] += text
	if o.item == typeReasoning {
		a.reasoned += len(text)
	} else {
		a.said += len(text)
	}
	a.place(o.text, ".delta", "delta", text)
	return nil
}

func (a *answer) endPart() {
	text := a.open.texts[len(a.open.texts)-1]
	a.place(a.open.text, ".done", a.open.member, text)
	a.place(a.open.parts, ".done", "part", a.open.content(text))
}

// note records which items must be sent back together, once the open one has begun.
func (a *answer) note() {
	a.s.Locked(func(*modeltest.Record) {
		switch o := a.open; {
		case o.item == typeReasoning:
			a.thoughts = o.id
			a.s.follows[o.id] = "" // unless an item follows
		case a.thoughts != "":
			a.s.needs[o.id] = a.thoughts
			a.s.follows[a.thoughts] = cmp.Or(a.s.follows[a.thoughts], o.id)
		}
	})
}

// close ends the open item.
func (a *answer) close(status string) {
	if a.open == nil {
		return
	}
	a.endPart()
	item := a.item(status)
	a.send("response.output_item.done", object{"item": item, "output_index": len(a.done)})
	a.done, a.open = append(a.done, item), nil
}

// summarized reports whether the client asked for summaries. It gets none otherwise.
func (a *answer) summarized() bool { return a.body.Reasoning != nil && a.body.Reasoning.Summary != "" }

func (o *output) content(text string) object {
	part := object{"type": o.part, o.member: text}
	if o.part == "output_text" {
		part["annotations"], part["logprobs"] = []any{}, []any{}
	}
	return part
}

func (a *answer) item(status string) object {
	o := a.open
	item, parts := object{"type": o.item, "id": o.id}, []object{}
	for _, text := range o.texts {
		parts = append(parts, o.content(text))
	}
	switch o.item {
	case typeMessage:
		item["status"], item["role"], item["content"] = status, "assistant", parts
	case typeCall:
		item["status"], item["call_id"], item["name"], item["arguments"] = status, o.block, o.name, strings.Join(o.texts, "")
	case typeReasoning:
		texts := o.texts
		if !a.summarized() {
			parts, texts = []object{}, nil
		}
		item["summary"] = parts
		if slices.Contains(a.body.Include, includeEncrypted) {
			item["encrypted_content"] = a.s.encrypt(o.id, texts)
			if status == "in_progress" { // the service warns that it may be incomplete
				item["encrypted_content"] = a.s.encrypt("", nil)
			}
		}
	}
	return item
}

func (a *answer) finish(f model.FinishReason) error {
	isRefusal := f.Unified == "content-filter" && f.Raw == model.FinishRefusal
	if isRefusal && !a.refused {
		a.start(model.Event{Kind: model.EventTextStart, ID: "refusal"})
		if err := a.delta("refusal", "I cannot help with that."); err != nil {
			return err
		}
	}
	switch {
	case f.Unified == "stop", f.Unified == "tool-calls", isRefusal:
		a.close("completed")
		a.end("completed", "error", nil)
	case f.Unified == "error":
		a.end("failed", "error", object{"code": "server_error", "message": f.Raw})
	default:
		reason, ok := map[string]string{"length": "max_output_tokens", "content-filter": "content_filter"}[f.Unified]
		if !ok {
			reason = f.Raw
		}
		a.close("incomplete")
		a.end("incomplete", "incomplete_details", object{"reason": reason})
	}
	return nil
}

// end accounts for the answer and sends its last event, with a member that says why it ends.
func (a *answer) end(status, member string, why any) {
	a.Finish(modeltest.Tokens(a.said + a.reasoned))
	response := a.response(status)
	response[member] = why
	response["usage"] = object{
		"input_tokens": a.Bill.InputTokens, "input_tokens_details": object{"cached_tokens": a.Bill.CacheRead},
		"output_tokens": a.Bill.Output, "output_tokens_details": object{"reasoning_tokens": modeltest.Tokens(a.reasoned)},
		"total_tokens": a.Bill.InputTokens + a.Bill.Output,
	}
	a.send("response."+status, object{"response": response})
}

func (a *answer) response(status string) object {
	return object{
		"id": "resp_" + a.id, "object": "response", "created_at": 1700000000, "status": status, "model": a.body.Model,
		"error": nil, "incomplete_details": nil, "output": append([]object{}, a.done...), "store": false, "usage": nil,
	}
}

// place sends an event about the open item, unless there is no such event or it is about a summary that the client did
// not ask for.
func (a *answer) place(kind, suffix, member string, value any) {
	o := a.open
	if kind == "" || o.item == typeReasoning && !a.summarized() {
		return
	}
	fields := object{member: value, "item_id": o.id, "output_index": len(a.done)}
	if o.index != "" {
		fields[o.index] = len(o.texts) - 1
	}
	if kind == "response.output_text" {
		fields["logprobs"] = []any{}
	}
	a.send(kind+suffix, fields)
}

func (a *answer) send(kind string, fields object) {
	fields["type"], fields["sequence_number"] = kind, a.events
	a.events++
	a.Send(kind, fields)
}
