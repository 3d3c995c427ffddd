package uistream

import (
	"bytes"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/messages/internal/rawjson"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// Comparison is how a message compares with what a reader has of it.
type Comparison int

// The results of [CatchUp].
const (
	// Apart means that the reader has something that the message does not contain, and
	// that no chunk can remove.
	Apart Comparison = iota
	// Behind means that the reader has all of the message and more; the message may
	// catch up.
	Behind
	// Ahead means that the message contains all that the reader has, and perhaps more.
	Ahead
)

// CatchUp compares what a reader has with the message as it is now. When the message
// is ahead, the chunks give the reader what is missing, and ids names the texts and
// reasonings that continue under another id: key is the message's, value the reader's.
func CatchUp(has, now *Reducer) (chunks []Chunk, ids map[string]string, standing Comparison) {
	c := catchUp{
		had: has.Message().Parts, are: now.Message().Parts, ids: map[string]string{}, hasOpen: has.open(), nowOpen: now.open(), result: Ahead,
	}
	for i := range min(len(c.had), len(c.are)) {
		if !c.part(i) {
			return nil, nil, Apart
		}
	}
	switch behind := c.result == Behind || len(c.are) < len(c.had); {
	case behind && len(c.out) > 0:
		return nil, nil, Apart // it grew where the reader has something after it
	case behind:
		return nil, nil, Behind
	}
	p := &replayer{chunks: c.out, open: c.nowOpen}
	for i, part := range c.are {
		if i >= len(c.had) {
			p.part(i, part)
		} else if _, ok := part.(uimessage.StepStart); ok {
			p.inStep = true
		}
	}
	return p.chunks, c.ids, Ahead
}

// open returns the ids of the texts and reasonings that grow, by index of the part.
func (r *Reducer) open() map[int]string {
	out := map[int]string{}
	for id, o := range r.texts {
		out[o.index] = id
	}
	for id, o := range r.reasonings {
		out[o.index] = id
	}
	return out
}

type catchUp struct {
	had, are         []uimessage.Part
	hasOpen, nowOpen map[int]string
	out              []Chunk
	ids              map[string]string
	result           Comparison
}

// part compares what both have at one place. It returns false if nothing reconciles them.
func (c *catchUp) part(i int) bool {
	switch is := c.are[i].(type) {
	case uimessage.Text:
		had, ok := c.had[i].(uimessage.Text)
		return ok && c.words(i, words{had.Text, had.State}, words{is.Text, is.State}, false)
	case uimessage.Reasoning:
		had, ok := c.had[i].(uimessage.Reasoning)
		return ok && c.words(i, words{had.Text, had.State}, words{is.Text, is.State}, true)
	case uimessage.Tool:
		had, ok := c.had[i].(uimessage.Tool)
		return ok && c.tool(i, had, is)
	case uimessage.Data:
		had, ok := c.had[i].(uimessage.Data)
		if ok && is.ID.Set && had.Name == is.Name && had.ID == is.ID && !bytes.Equal(had.Data, is.Data) {
			c.out = append(c.out, Data{Name: is.Name, ID: is.ID, Data: is.Data, Extra: is.Extra})
			return true
		}
	case uimessage.StepStart, uimessage.SourceURL, uimessage.SourceDocument, uimessage.File, uimessage.Unknown:
	}
	return samePart(c.had[i], c.are[i])
}

func samePart(a, b uimessage.Part) bool {
	return bytes.Equal(uimessage.AppendPart(nil, a), uimessage.AppendPart(nil, b))
}

// words is the current state of a text or a reasoning.
type words struct {
	text  string
	state uimessage.TextState
}

func (w words) grows() bool { return w.state == uimessage.TextStreaming }

func (c *catchUp) words(i int, had, is words, reasoning bool) bool {
	id, open := c.hasOpen[i]
	switch {
	case had.text == is.text && is.grows() && !open:
		c.result = Behind // the reader saw it end
		return i == len(c.are)-1
	case len(is.text) < len(had.text):
		c.result = Behind
		return i == len(c.are)-1 && is.grows() && strings.HasPrefix(had.text, is.text)
	case len(is.text) > len(had.text) && (!open || !strings.HasPrefix(is.text, had.text)):
		return false
	case had.text != is.text[:len(had.text)]:
		return false
	}
	if !open {
		return true
	}
	if more := is.text[len(had.text):]; more != "" {
		c.add(reasoning, TextDelta{ID: id, Delta: more}, ReasoningDelta{ID: id, Delta: more})
	}
	if !is.grows() {
		c.add(reasoning, TextEnd{ID: id}, ReasoningEnd{ID: id})
	} else if other, ok := c.nowOpen[i]; ok && other != id {
		c.ids[other] = id
	}
	return true
}

func (c *catchUp) add(reasoning bool, text, thought Chunk) {
	if reasoning {
		c.out = append(c.out, thought)
		return
	}
	c.out = append(c.out, text)
}

// settled is the rank of a call that has its outcome.
const settled = 4

// rank orders the states of a call.
func rank(s uimessage.ToolState) int {
	open := []uimessage.ToolState{
		uimessage.ToolInputStreaming, uimessage.ToolInputAvailable, uimessage.ToolApprovalRequested, uimessage.ToolApprovalResponded,
	}
	if i := slices.Index(open, s); i >= 0 {
		return i
	}
	return settled
}

// tool compares two states of a call.
func (c *catchUp) tool(i int, had, is uimessage.Tool) bool {
	was, now := rank(had.State), rank(is.State)
	switch {
	case had.ToolCallID != is.ToolCallID || had.Name != is.Name:
		return false
	case was > 0 && now > 0 && !bytes.Equal(had.Input, is.Input):
		return false
	case now < was:
		c.result = Behind
		return i == len(c.are)-1
	case was == 0 && now == 0:
		return c.input(i, had, is)
	case was == now && (now != settled || samePart(outcome(had), outcome(is))):
		return true
	case was == now && !had.Preliminary.Value:
		return false
	}
	chunks := Replay(uimessage.Message{Parts: []uimessage.Part{is}})[1:]
	if was > 0 { // the reader has the input
		chunks = slices.DeleteFunc(chunks, func(c Chunk) bool {
			_, start := c.(ToolInputStart)
			_, input := c.(ToolInputAvailable)
			_, refused := c.(ToolInputError)
			_, asked := c.(ToolApprovalRequest)
			return start || input || refused || asked && was >= 2
		})
	} else if slices.ContainsFunc(c.had[i:], func(p uimessage.Part) bool { return p.Type() == uimessage.StepStart{}.Type() }) {
		return false // an input is only looked for in the current step
	}
	c.out = append(c.out, chunks...)
	return true
}

// outcome is the outcome of a call, without what streams do not carry.
func outcome(t uimessage.Tool) uimessage.Tool {
	return uimessage.Tool{Name: t.Name, ToolCallID: t.ToolCallID, State: t.State, Output: t.Output, ErrorText: t.ErrorText, Preliminary: t.Preliminary}
}

// input compares two inputs that are being written.
func (c *catchUp) input(i int, had, is uimessage.Tool) bool {
	before, _ := rawjson.Unquote(had.RawInput)
	after, _ := rawjson.Unquote(is.RawInput)
	switch {
	case strings.HasPrefix(after, before):
		if more := after[len(before):]; more != "" {
			c.out = append(c.out, ToolInputDelta{ToolCallID: is.ToolCallID, Delta: more})
		}
		return true
	case strings.HasPrefix(before, after):
		c.result = Behind
		return i == len(c.are)-1
	}
	return false
}
