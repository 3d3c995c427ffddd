package uistream

import (
	"encoding/json"
	"strings"

	"github.com/shipmyagent/shipmyagent/messages/internal/rawjson"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

const encodingText = "text"

// openInput is a tool input that streams.
type openInput struct {
	// call is what every delta repeats about the part.
	call  ToolInputStart
	text  strings.Builder
	index int
	dirty bool
	// bare is true for a dynamic part that the last delta added; such a part shows its
	// raw input from the next delta on.
	bare bool
}

func (o *openInput) flush(parts []uimessage.Part) {
	o.dirty = false
	p, ok := parts[o.index].(uimessage.Tool)
	if !ok {
		return // Unreachable: a part never changes its kind.
	}
	raw := rawjson.AppendString(nil, o.text.String())
	p.Input, p.RawInput = raw, raw
	if o.bare {
		p.RawInput = nil
	}
	if o.call.InputEncoding != encodingText {
		p.Input, _ = RepairJSON(o.text.String())
	}
	parts[o.index] = p
}

// toolUpdate is what a chunk says about a call. Members that are absent here are
// removed from the part, except title, metadata and providerExecuted.
type toolUpdate struct {
	call        ToolInputStart
	state       uimessage.ToolState
	input       json.RawMessage
	rawInput    json.RawMessage
	output      json.RawMessage
	errorText   uimessage.Optional[string]
	preliminary uimessage.Optional[bool]
}

func (u *toolUpdate) apply(p *uimessage.Tool) {
	p.Name = u.call.ToolName
	p.Unnamed = false
	p.State = u.state
	p.Input = u.input
	p.RawInput = u.rawInput
	p.Output = u.output
	p.ErrorText = u.errorText
	p.Preliminary = u.preliminary
	p.InputEncoding = u.call.InputEncoding
	if u.call.Title.Set {
		p.Title = u.call.Title
	}
	if len(u.call.ToolMetadata) > 0 {
		p.ToolMetadata = u.call.ToolMetadata
	}
	if u.call.ProviderExecuted.Set {
		p.ProviderExecuted = u.call.ProviderExecuted
	}
	metadata := rawjson.NotNull(u.call.ProviderMetadata)
	switch {
	case len(metadata) == 0:
	case u.state == uimessage.ToolOutputAvailable || u.state == uimessage.ToolOutputError:
		p.ResultProviderMetadata = metadata
	default:
		p.CallProviderMetadata = metadata
	}
}

func (c ToolInputStart) apply(r *Reducer) (bool, error) {
	o := &openInput{}
	o.index, _ = r.putCall(toolUpdate{call: c, state: uimessage.ToolInputStreaming})
	o.call = c
	o.call.ProviderExecuted, o.call.ProviderMetadata = uimessage.Optional[bool]{}, nil
	r.inputs[c.ToolCallID] = o
	return true, nil
}

func (c ToolInputDelta) apply(r *Reducer) (bool, error) {
	o := r.inputs[c.ToolCallID]
	if o == nil {
		return false, &StreamError{ChunkType: c.Type(), ID: c.ToolCallID, Missing: "open tool call"}
	}
	if o.dirty && o.index >= r.step {
		o.bare = false
	} else {
		var added bool
		o.index, added = r.putCall(toolUpdate{call: o.call, state: uimessage.ToolInputStreaming})
		o.bare = added && o.call.Dynamic.Value
	}
	o.text.WriteString(c.Delta)
	r.touch(o, &o.dirty)
	return true, nil
}

func (c ToolInputAvailable) apply(r *Reducer) (bool, error) {
	r.putCall(toolUpdate{
		call: ToolInputStart{
			ToolCallID: c.ToolCallID, ToolName: c.ToolName, Dynamic: c.Dynamic, Title: c.Title, ToolMetadata: c.ToolMetadata,
			ProviderExecuted: c.ProviderExecuted, ProviderMetadata: c.ProviderMetadata,
		},
		state: uimessage.ToolInputAvailable, input: c.Input,
	})
	return true, nil
}

// apply settles a call whose input is invalid. If the call has a part already, that
// decides whether it is a dynamic one.
func (c ToolInputError) apply(r *Reducer) (bool, error) {
	u := toolUpdate{
		call: ToolInputStart{
			ToolCallID: c.ToolCallID, ToolName: c.ToolName, Dynamic: c.Dynamic, ToolMetadata: c.ToolMetadata,
			ProviderExecuted: c.ProviderExecuted, ProviderMetadata: c.ProviderMetadata,
		},
		state: uimessage.ToolOutputError, errorText: uimessage.Some(c.ErrorText),
	}
	for _, p := range r.msg.Parts[r.step:] {
		if p, ok := p.(uimessage.Tool); ok && p.ToolCallID == c.ToolCallID {
			u.call.Dynamic = uimessage.Some(p.Dynamic)
			break
		}
	}
	if u.call.Dynamic.Value {
		u.input = c.Input
	} else {
		u.rawInput = c.Input
	}
	r.putCall(u)
	return true, nil
}

// resumeInputs opens the inputs that still stream in the last step of a continued
// message.
func (r *Reducer) resumeInputs() {
	for i := r.step; i < len(r.msg.Parts); i++ {
		p, ok := r.msg.Parts[i].(uimessage.Tool)
		if !ok || p.State != uimessage.ToolInputStreaming {
			continue
		}
		o := &openInput{index: i, call: ToolInputStart{
			ToolCallID: p.ToolCallID, ToolName: p.Name, InputEncoding: p.InputEncoding, Title: p.Title, ToolMetadata: p.ToolMetadata,
			Dynamic: uimessage.Optional[bool]{Value: p.Dynamic, Set: p.Dynamic},
		}}
		if text, ok := rawjson.Unquote(p.RawInput); ok {
			o.text.WriteString(text)
		}
		r.inputs[p.ToolCallID] = o
	}
}

// putCall updates the call in the current step, or adds it, and returns its index.
func (r *Reducer) putCall(u toolUpdate) (index int, added bool) {
	r.settle()
	dynamic := u.call.Dynamic.Value
	for i := r.step; i < len(r.msg.Parts); i++ {
		p, ok := r.msg.Parts[i].(uimessage.Tool)
		if ok && p.ToolCallID == u.call.ToolCallID && p.Dynamic == dynamic {
			u.apply(&p)
			r.msg.Parts[i] = p
			return i, false
		}
	}
	p := uimessage.Tool{ToolCallID: u.call.ToolCallID, Dynamic: dynamic}
	u.apply(&p)
	r.msg.Parts = append(r.msg.Parts, p)
	return len(r.msg.Parts) - 1, true
}

// findCall returns the index of the call that an outcome is for: the first with its id
// in the current step, or else the last in the steps before.
func (r *Reducer) findCall(chunkType, callID string) (int, uimessage.Tool, error) {
	r.settle()
	for i := r.step; i < len(r.msg.Parts); i++ {
		if p, ok := r.msg.Parts[i].(uimessage.Tool); ok && p.ToolCallID == callID {
			return i, p, nil
		}
	}
	for i := r.step - 1; i >= 0; i-- {
		if p, ok := r.msg.Parts[i].(uimessage.Tool); ok && p.ToolCallID == callID {
			return i, p, nil
		}
	}
	return 0, uimessage.Tool{}, &StreamError{ChunkType: chunkType, ID: callID, Missing: "tool call"}
}

func (c ToolOutputAvailable) apply(r *Reducer) (bool, error) {
	return true, r.settleCall(c.Type(), toolUpdate{
		call:  ToolInputStart{ToolCallID: c.ToolCallID, ProviderExecuted: c.ProviderExecuted, ProviderMetadata: c.ProviderMetadata, ToolMetadata: c.ToolMetadata},
		state: uimessage.ToolOutputAvailable, output: c.Output, preliminary: c.Preliminary,
	})
}

func (c ToolOutputError) apply(r *Reducer) (bool, error) {
	return true, r.settleCall(c.Type(), toolUpdate{
		call:  ToolInputStart{ToolCallID: c.ToolCallID, ProviderExecuted: c.ProviderExecuted, ProviderMetadata: c.ProviderMetadata, ToolMetadata: c.ToolMetadata},
		state: uimessage.ToolOutputError, errorText: uimessage.Some(c.ErrorText),
	})
}

func (c ToolOutputDenied) apply(r *Reducer) (bool, error) {
	i, p, err := r.findCall(c.Type(), c.ToolCallID)
	if err != nil {
		return false, err
	}
	p.State = uimessage.ToolOutputDenied
	r.msg.Parts[i] = p
	return true, nil
}

func (c ToolApprovalRequest) apply(r *Reducer) (bool, error) {
	i, p, err := r.findCall(c.Type(), c.ToolCallID)
	if err != nil {
		return false, err
	}
	p.State = uimessage.ToolApprovalRequested
	p.Approval = &uimessage.Approval{
		ID: c.ApprovalID, Signature: c.Signature, Descriptor: rawjson.NotNull(c.Descriptor), InputSchemaInput: c.InputSchemaInput,
	}
	r.msg.Parts[i] = p
	return true, nil
}

func (r *Reducer) settleCall(chunkType string, u toolUpdate) error {
	i, p, err := r.findCall(chunkType, u.call.ToolCallID)
	if err != nil {
		return err
	}
	u.call.ToolName = p.Name
	u.input = p.Input
	if u.state == uimessage.ToolOutputError && !p.Dynamic {
		u.rawInput = p.RawInput
	}
	u.apply(&p)
	r.msg.Parts[i] = p
	return nil
}
