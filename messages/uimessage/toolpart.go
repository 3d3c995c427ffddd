package uimessage

import (
	"encoding/json"
	"strings"

	"github.com/shipmyagent/shipmyagent/messages/internal/rawjson"
)

// ToolState is how far a tool call has got between its first byte and its outcome.
type ToolState string

// The states of a tool call. A call without an outcome is open.
const (
	ToolInputStreaming    ToolState = "input-streaming"
	ToolInputAvailable    ToolState = "input-available"
	ToolApprovalRequested ToolState = "approval-requested"
	ToolApprovalResponded ToolState = "approval-responded"
	ToolOutputAvailable   ToolState = "output-available"
	ToolOutputError       ToolState = "output-error"
	ToolOutputDenied      ToolState = "output-denied"
)

// Settled reports whether the state is an outcome: output, error or denial.
func (s ToolState) Settled() bool {
	return s == ToolOutputAvailable || s == ToolOutputError || s == ToolOutputDenied
}

// Tool is a tool call with everything known of it: a static part of type
// `tool-<Name>`, or a part of type `dynamic-tool` that carries `toolName`.
//
//codec:type
type Tool struct {
	Name string `codec:"toolName,func"`
	// Dynamic says that the part is of type `dynamic-tool`.
	Dynamic bool
	// Unnamed says that a dynamic part has no `toolName`. Name is empty then.
	Unnamed bool
	// WasStatic is the member `dynamic: false`, by which a dynamic part remembers
	// that it once was a static one.
	WasStatic  bool             `codec:"dynamic,func"`
	ToolCallID string           `codec:"toolCallId,required"`
	State      ToolState        `codec:"state"`
	Title      Optional[string] `codec:"title"`

	ToolMetadata     json.RawMessage `codec:"toolMetadata"`
	ProviderExecuted Optional[bool]  `codec:"providerExecuted"`

	// Input is nil when absent. RawInput is the text received so far while the
	// input streams, and afterwards any value that is not a valid input.
	Input         json.RawMessage `codec:"input"`
	RawInput      json.RawMessage `codec:"rawInput"`
	InputEncoding string          `codec:"inputEncoding,omitempty,nullable"`

	CallProviderMetadata json.RawMessage `codec:"callProviderMetadata"`
	// Approval is nil when no approval was requested. What it points to is never changed.
	Approval *Approval `codec:"approval,nullable"`

	// Output is the tool's result, ErrorText its failure.
	Output      json.RawMessage  `codec:"output"`
	ErrorText   Optional[string] `codec:"errorText"`
	Preliminary Optional[bool]   `codec:"preliminary"`

	ResultProviderMetadata json.RawMessage `codec:"resultProviderMetadata"`
	Extra                  []Member
}

// Approval is a person's decision on a tool call. Approved is absent while the
// request is open.
//
//codec:object
type Approval struct {
	ID               string           `codec:"id,required"`
	Approved         Optional[bool]   `codec:"approved"`
	Reason           Optional[string] `codec:"reason"`
	Signature        Optional[string] `codec:"signature"`
	Descriptor       json.RawMessage  `codec:"descriptor"`
	InputSchemaInput json.RawMessage  `codec:"inputSchemaInput"`
	Extra            []Member
}

// The types of tool parts.
const (
	typeDynamicTool = "dynamic-tool"
	prefixTool      = "tool-"
)

// Type implements [Part].
func (p Tool) Type() string {
	if p.Dynamic {
		return typeDynamicTool
	}
	return prefixTool + p.Name
}

// readTool reads a part whose type is that of a tool call; ok is false for other types.
func readTool(r *rawjson.Reader, name string, v []byte) (p Tool, ok bool) {
	p.Name, ok = strings.CutPrefix(name, prefixTool)
	if name == typeDynamicTool {
		p, ok = Tool{Dynamic: true, Unnamed: true}, true
	}
	if ok {
		p.read(r, v)
		r.Need(p.State != "", "state")
	}
	return p, ok
}

func (p *Tool) writeName(w *rawjson.Writer) {
	if p.Dynamic && !p.Unnamed {
		w.Str("toolName", p.Name)
	}
}

// readName reads a member of dynamic parts; the type of a static part contains its name.
func (p *Tool) readName(r *rawjson.Reader, k, v []byte) {
	if !p.Dynamic {
		rawjson.Extra(&p.Extra, k, v)
		return
	}
	r.Str("toolName", v, &p.Name)
	p.Unnamed = false
}

func (p *Tool) writeWasStatic(w *rawjson.Writer) {
	if p.WasStatic {
		w.Bool("dynamic", false)
	}
}

func (p *Tool) readWasStatic(_ *rawjson.Reader, k, v []byte) {
	if p.Dynamic && string(v) == "false" {
		p.WasStatic = true
		return
	}
	rawjson.Extra(&p.Extra, k, v)
}
