package uistream

import (
	"strconv"

	"github.com/shipmyagent/shipmyagent/messages/internal/rawjson"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// Replay returns the chunks that rebuild a stored message for a new reader: a start,
// then the chunks of every part, without a finish. Parts that still grow are left open.
// What no chunk can express is lost: the answer to an approval, the name of a file,
// unknown members and parts, and that a dynamic part once was a static one. The chunks
// share raw values with the message.
func Replay(m uimessage.Message) []Chunk {
	return (&replayer{}).message(m)
}

// Replay returns the chunks that rebuild the message so far, so that a reader who
// has applied them can continue with the chunks that follow.
func (r *Reducer) Replay() []Chunk {
	p := &replayer{open: r.open()}
	return p.message(r.Snapshot())
}

// replayer turns parts into chunks.
type replayer struct {
	chunks []Chunk
	// open are the ids of texts that grow, by index of the part.
	open map[int]string
	// inStep is true once a step was opened.
	inStep bool
}

func (r *replayer) message(m uimessage.Message) []Chunk {
	r.chunks = make([]Chunk, 0, 1+3*len(m.Parts))
	r.add(Start{MessageID: uimessage.Some(m.ID), Metadata: m.Metadata})
	for i, part := range m.Parts {
		r.part(i, part)
	}
	return r.chunks
}

func (r *replayer) add(c Chunk) { r.chunks = append(r.chunks, c) }

func (r *replayer) part(i int, part uimessage.Part) {
	switch p := part.(type) {
	case uimessage.StepStart:
		if r.inStep {
			r.add(FinishStep{})
		}
		r.inStep = true
		r.add(StartStep{})
	case uimessage.Text:
		r.text(i, p)
	case uimessage.Reasoning:
		r.reasoning(i, p)
	case uimessage.Tool:
		r.tool(p)
	case uimessage.SourceURL:
		r.add(SourceURL{SourceID: p.SourceID, URL: p.URL, Title: p.Title, ProviderMetadata: p.ProviderMetadata})
	case uimessage.SourceDocument:
		r.add(SourceDocument{SourceID: p.SourceID, MediaType: p.MediaType, Title: p.Title, Filename: p.Filename, ProviderMetadata: p.ProviderMetadata})
	case uimessage.File:
		r.add(File{URL: p.URL, MediaType: p.MediaType, ProviderMetadata: p.ProviderMetadata})
	case uimessage.Data:
		r.add(Data{Name: p.Name, ID: p.ID, Data: p.Data, Extra: p.Extra})
	case uimessage.Unknown:
	}
}

// id is the id of the part while it grows, or one that no growing part has.
func (r *replayer) id(i int) string {
	if id, ok := r.open[i]; ok {
		return id
	}
	return "replay-" + strconv.Itoa(i)
}

func (r *replayer) text(i int, p uimessage.Text) {
	id := r.id(i)
	r.add(TextStart{ID: id, ProviderMetadata: p.ProviderMetadata})
	if p.Text != "" {
		r.add(TextDelta{ID: id, Delta: p.Text})
	}
	if p.State != uimessage.TextStreaming {
		r.add(TextEnd{ID: id})
	}
}

func (r *replayer) reasoning(i int, p uimessage.Reasoning) {
	id := p.ID.Or(r.id(i))
	r.add(ReasoningStart{ID: id, ProviderMetadata: p.ProviderMetadata})
	if p.Text != "" {
		r.add(ReasoningDelta{ID: id, Delta: p.Text})
	}
	if p.State != uimessage.TextStreaming {
		r.add(ReasoningEnd{ID: id})
	}
}

func (r *replayer) tool(p uimessage.Tool) {
	start := ToolInputStart{
		ToolCallID: p.ToolCallID, ToolName: p.Name, InputEncoding: p.InputEncoding, ProviderExecuted: p.ProviderExecuted,
		ProviderMetadata: p.CallProviderMetadata, ToolMetadata: p.ToolMetadata, Title: p.Title,
		Dynamic: uimessage.Optional[bool]{Value: p.Dynamic, Set: p.Dynamic},
	}
	switch {
	case p.State == uimessage.ToolInputStreaming:
		r.add(start)
		if raw, ok := rawjson.Unquote(p.RawInput); ok {
			r.add(ToolInputDelta{ToolCallID: p.ToolCallID, Delta: raw})
		}
		return
	case p.State == uimessage.ToolOutputError && len(p.Input) == 0:
		r.add(start)
		r.add(ToolInputError{ToolCallID: p.ToolCallID, ToolName: p.Name, Input: p.RawInput, ErrorText: p.ErrorText.Value, Dynamic: start.Dynamic})
	default:
		r.add(ToolInputAvailable{
			ToolCallID: p.ToolCallID, ToolName: p.Name, Input: p.Input, ProviderExecuted: p.ProviderExecuted,
			ProviderMetadata: p.CallProviderMetadata, ToolMetadata: p.ToolMetadata, Dynamic: start.Dynamic, Title: p.Title,
		})
	}
	if a := p.Approval; a != nil {
		r.add(ToolApprovalRequest{ApprovalID: a.ID, ToolCallID: p.ToolCallID, Descriptor: a.Descriptor, InputSchemaInput: a.InputSchemaInput, Signature: a.Signature})
	}
	metadata := p.ResultProviderMetadata
	switch p.State {
	case uimessage.ToolOutputAvailable:
		r.add(ToolOutputAvailable{ToolCallID: p.ToolCallID, Output: p.Output, Preliminary: p.Preliminary, ProviderMetadata: metadata})
	case uimessage.ToolOutputError:
		r.add(ToolOutputError{ToolCallID: p.ToolCallID, ErrorText: p.ErrorText.Value, ProviderMetadata: metadata})
	case uimessage.ToolOutputDenied:
		r.add(ToolOutputDenied{ToolCallID: p.ToolCallID})
	case uimessage.ToolInputStreaming, uimessage.ToolInputAvailable, uimessage.ToolApprovalRequested, uimessage.ToolApprovalResponded:
	}
}
