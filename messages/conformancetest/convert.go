package conformancetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// textVanished replaces the output of a tool that no longer exists.
const textVanished = "Tool output omitted because the tool is no longer available."

// CallResult is the input of a tool's own conversion of its output. Raw values are nil
// when absent.
type CallResult struct {
	ToolCallID string
	Input      json.RawMessage
	Output     json.RawMessage
}

// Tool is what a conversion needs to know of a tool.
type Tool struct {
	// ToModelOutput converts the output for the model. If it is nil, strings become text
	// and everything else JSON.
	ToModelOutput func(CallResult) (modelmessage.Output, error)
}

// Options are what the SDK's conversion offers and chats do not use.
type Options struct {
	// IgnoreIncompleteToolCalls leaves out calls without an outcome or an answered
	// approval.
	IgnoreIncompleteToolCalls bool
	// Tools are the existing tools by name.
	Tools map[string]Tool
	// ConvertDataPart makes a Text or File of a data part, or nil to leave it out.
	ConvertDataPart func(uimessage.Data) modelmessage.Part
}

// Convert converts a list of messages one by one.
func Convert(list []uimessage.Message, opts Options) ([]modelmessage.Message, error) {
	c := conversion{Options: opts}
	out := make([]modelmessage.Message, 0, len(list)+len(list)/2)
	for i, m := range list {
		var err error
		if m.Role != uimessage.RoleSystem {
			if m.Parts, err = c.parts(m.Parts); err != nil {
				return nil, fmt.Errorf("convert message %d: %w", i, err)
			}
		}
		if out, err = modelmessage.AppendConverted(out, &m); err != nil {
			return nil, fmt.Errorf("convert message %d: %w", i, err)
		}
	}
	c.setOutputs(out)
	return out, nil
}

// conversion carries the options out around the product's conversion.
type conversion struct {
	Options
	// outputs are own outputs of tools, whose calls have a mark with the index as their output.
	outputs []modelmessage.Output
}

const outputMark = "own output "

// parts are the parts that the product converts.
func (c *conversion) parts(list []uimessage.Part) ([]uimessage.Part, error) {
	list = slices.Clone(list)
	for i, p := range list {
		switch p := p.(type) {
		case uimessage.Tool:
			own, err := c.output(p)
			switch {
			case err != nil:
				return nil, err
			case c.IgnoreIncompleteToolCalls && incomplete(&p):
				list[i] = uimessage.Unknown{}
			case own != nil:
				p.Output = json.RawMessage(strconv.Quote(outputMark + strconv.Itoa(len(c.outputs))))
				c.outputs = append(c.outputs, *own)
				list[i] = p
			}
		case uimessage.Data:
			if c.ConvertDataPart != nil {
				list[i] = shown(c.ConvertDataPart(p))
			}
		default:
		}
	}
	return list, nil
}

// output is the output that replaces the ordinary one of a call, or nil.
func (c *conversion) output(p uimessage.Tool) (*modelmessage.Output, error) {
	tool, known := c.Tools[p.Name]
	switch {
	case p.State != uimessage.ToolOutputAvailable:
		return nil, nil
	case p.WasStatic && !known:
		return &modelmessage.Output{Type: modelmessage.OutputText, Text: textVanished}, nil
	case tool.ToModelOutput == nil:
		return nil, nil
	}
	out, err := tool.ToModelOutput(CallResult{ToolCallID: p.ToolCallID, Input: p.Input, Output: p.Output})
	return &out, err
}

// shown is a converted data part as a part of a UI message.
func shown(p modelmessage.Part) uimessage.Part {
	switch p := p.(type) {
	case modelmessage.Text:
		return uimessage.Text{Text: p.Text, ProviderMetadata: p.ProviderOptions}
	case modelmessage.File:
		return uimessage.File{MediaType: p.MediaType, Filename: p.Filename, URL: p.Data, ProviderMetadata: p.ProviderOptions}
	default:
		return uimessage.Unknown{}
	}
}

// incomplete reports whether a call has neither an outcome nor an answered approval.
func incomplete(p *uimessage.Tool) bool {
	switch p.State {
	case uimessage.ToolOutputAvailable:
		return p.Preliminary.Value
	case uimessage.ToolApprovalResponded, uimessage.ToolOutputError, uimessage.ToolOutputDenied:
		return false
	case uimessage.ToolInputStreaming, uimessage.ToolInputAvailable, uimessage.ToolApprovalRequested:
		return true
	default:
		return true
	}
}

func (c *conversion) setOutputs(list []modelmessage.Message) {
	for _, m := range list {
		for i, p := range m.Parts {
			r, ok := p.(modelmessage.ToolResult)
			if !ok {
				continue
			}
			if n, marked := strings.CutPrefix(r.Output.Text, outputMark); marked {
				at, _ := strconv.Atoi(n) // The mark is ours.
				r.Output = c.outputs[at]
				m.Parts[i] = r
			}
		}
	}
}
