package loop_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/shipmyagent/shipmyagent/actors/internal/loop"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages/conformancetest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// toolSpec is a tool described as data.
type toolSpec struct {
	Description   *string                      `json:"description"`
	Title         string                       `json:"title"`
	Metadata      json.RawMessage              `json:"metadata"`
	Dynamic       bool                         `json:"dynamic"`
	InputSchema   json.RawMessage              `json:"inputSchema"`
	OutputSchema  json.RawMessage              `json:"outputSchema"` // for validation only
	NeedsApproval json.RawMessage              `json:"needsApproval"`
	Execute       *executeSpec                 `json:"execute"`
	ToModelOutput *conformancetest.ModelOutput `json:"toModelOutput"`
}

type executeSpec struct {
	Return     json.RawMessage   `json:"return"`
	ReturnEach []json.RawMessage `json:"returnEach"`
	Echo       bool              `json:"echo"`
	Throw      *string           `json:"throw"`
	ThrowValue json.RawMessage   `json:"throwValue"`
	Yield      []json.RawMessage `json:"yield"`
	DelayMS    int               `json:"delayMs"`
	// ReturnNothing is the behaviour of a tool without other members.
	ReturnNothing bool `json:"returnNothing"`
}

func (l toolList) find(name string) toolSpec {
	i := slices.IndexFunc(l, func(t namedTool) bool { return t.name == name })
	return l[i].spec
}

func (n namedTool) schema() json.RawMessage {
	if n.spec.InputSchema == nil {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return n.spec.InputSchema
}

func (n namedTool) engineTool(t *testing.T) loop.Tool {
	t.Helper()
	schema, err := tool.NewSchema(n.schema())
	stdtest.Must(t, err)
	out := loop.Tool{
		Name: n.name, Title: n.spec.Title, Metadata: n.spec.Metadata, Dynamic: n.spec.Dynamic,
		Check: func(_ string, in json.RawMessage) error { return schema.Validate(in) },
	}
	if raw := string(n.spec.NeedsApproval); raw != "" && raw != "false" {
		out.Asks = func(c loop.Call) bool { return n.spec.asks(c.Input) }
	}
	return out
}

func (s toolSpec) asks(input json.RawMessage) bool {
	if string(s.NeedsApproval) == "true" {
		return true
	}
	var rule struct {
		Field  string          `json:"field"`
		Equals json.RawMessage `json:"equals"`
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(s.NeedsApproval, &rule) != nil || json.Unmarshal(input, &fields) != nil {
		return false
	}
	return equalJSON(string(fields[rule.Field]), string(rule.Equals))
}

// rawMembers are the members that the engine reads from the raw part.
type rawMembers struct {
	Title         string          `json:"title"`
	Result        json.RawMessage `json:"result"`
	IsError       bool            `json:"isError"`
	Preliminary   bool            `json:"preliminary"`
	MediaType     string          `json:"mediaType"`
	Data          json.RawMessage `json:"data"`
	SourceType    string          `json:"sourceType"`
	URL           string          `json:"url"`
	Filename      string          `json:"filename"`
	ModelID       string          `json:"modelId"`
	Timestamp     string          `json:"timestamp"`
	Usage         json.RawMessage `json:"usage"`    // nothing of it is in a UI message
	Warnings      json.RawMessage `json:"warnings"` // nor of these
	RawValue      json.RawMessage `json:"rawValue"`
	ApprovalID    string          `json:"approvalId"`
	InputEncoding string          `json:"inputEncoding"`
}

// eventOf maps a stream part of the specification to the model's event.
func eventOf(t *testing.T, raw json.RawMessage) model.Event {
	t.Helper()
	var p struct {
		Type             model.EventKind `json:"type"`
		ID               string          `json:"id"`
		ToolCallID       string          `json:"toolCallId"`
		ToolName         string          `json:"toolName"`
		Delta            string          `json:"delta"`
		Input            string          `json:"input"`
		Dynamic          bool            `json:"dynamic"`
		ProviderExecuted bool            `json:"providerExecuted"`
		ProviderMetadata json.RawMessage `json:"providerMetadata"`
		Error            json.RawMessage `json:"error"`
		rawMembers
		FinishReason struct {
			Unified string `json:"unified"`
			Raw     string `json:"raw"`
		} `json:"finishReason"`
	}
	conformancetest.Decode(t, raw, &p)
	ev := model.Event{
		Kind: p.Type, ID: p.ID + p.ToolCallID, Delta: p.Delta, ToolName: p.ToolName, Input: p.Input,
		Dynamic: p.Dynamic, ProviderExecuted: p.ProviderExecuted, ProviderMetadata: p.ProviderMetadata,
		Finish: model.FinishReason(p.FinishReason), Raw: raw,
	}
	if p.Error != nil {
		ev.Err = thrown{p.Error}
		var text string
		if json.Unmarshal(p.Error, &text) == nil {
			ev.Err = errors.New(text)
		}
	}
	return ev
}
