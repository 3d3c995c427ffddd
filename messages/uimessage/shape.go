package uimessage

import (
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/messages/internal/rawjson"
)

// shape lists the members that the SDK's schema of an object knows, as name=kind, or
// name?=kind for an optional one. The kinds are those of fault. Other members are dropped.
type shape string

const (
	messageShape shape = "id=string role=system|user|assistant metadata?=any parts=list"

	textShape           shape = "type=string text=string state?=streaming|done providerMetadata?=records"
	reasoningShape      shape = "type=string id?=string text=string state?=streaming|done providerMetadata?=records"
	sourceURLShape      shape = "type=string sourceId=string url=string title?=string providerMetadata?=records"
	sourceDocumentShape shape = "type=string sourceId=string mediaType=string title=string filename?=string providerMetadata?=records"
	fileShape           shape = "type=string mediaType=string filename?=string url=string providerMetadata?=records"
	dataShape           shape = "type=string id?=string data=any"
	stepStartShape      shape = "type=string"

	dynamicShape  shape = "type=string toolName=string dynamic?=false"
	staticShape   shape = "type=string"
	toolShape     shape = " toolCallId=string state=string toolMetadata?=record providerExecuted?=flag callProviderMetadata?=records "
	approvalShape shape = "id=string descriptor?=any signature?=string inputSchemaInput?=any "
)

// stateShape lists the further members of a tool call in a state; it is empty for an
// unknown state.
func stateShape(state ToolState) shape {
	switch state {
	case ToolInputStreaming:
		return "input?=any rawInput?=string inputEncoding?=json|text output?=nothing errorText?=nothing approval?=nothing"
	case ToolInputAvailable:
		return "input=any output?=nothing errorText?=nothing approval?=nothing"
	case ToolApprovalRequested:
		return "input=any output?=nothing errorText?=nothing approval=requested"
	case ToolApprovalResponded:
		return "input=any output?=nothing errorText?=nothing approval=responded"
	case ToolOutputAvailable:
		return "input=any output=any errorText?=nothing preliminary?=flag resultProviderMetadata?=records approval?=approved"
	case ToolOutputError:
		return "input?=any rawInput?=any output?=nothing errorText=string resultProviderMetadata?=records approval?=approved"
	case ToolOutputDenied:
		return "input=any output?=nothing errorText?=nothing approval=denied"
	}
	return ""
}

// shapeOf is the shape of a part by type and, for calls, state; empty if there is none.
func shapeOf(name string, state ToolState) shape {
	switch name {
	case Text{}.Type():
		return textShape
	case Reasoning{}.Type():
		return reasoningShape
	case SourceURL{}.Type():
		return sourceURLShape
	case SourceDocument{}.Type():
		return sourceDocumentShape
	case File{}.Type():
		return fileShape
	case StepStart{}.Type():
		return stepStartShape
	}
	call := stateShape(state)
	switch {
	case strings.HasPrefix(name, prefixData):
		return dataShape
	case call == "":
		return ""
	case name == typeDynamicTool:
		return dynamicShape + toolShape + call
	case strings.HasPrefix(name, prefixTool):
		return staticShape + toolShape + call
	}
	return ""
}

// strip returns the object with its known members only, or the first fault. The
// last of equal names counts.
func (s shape) strip(v []byte) ([]byte, error) {
	if rawjson.KindOf(v) != rawjson.Object {
		return nil, &DecodeError{Reason: "want an object"}
	}
	fields := strings.Fields(string(s))
	found := make([][]byte, len(fields))
	for k, e := range rawjson.Members(v) {
		for i, f := range fields {
			if rest, ok := strings.CutPrefix(f, string(k)); ok && (rest[0] == '=' || rest[0] == '?') {
				found[i] = e
				break
			}
		}
	}
	w := rawjson.Open(nil)
	for i, f := range fields {
		name, kind, _ := strings.Cut(f, "=")
		name, optional := strings.CutSuffix(name, "?")
		switch {
		case found[i] != nil:
			if reason := fault(kind, found[i]); reason != "" {
				return nil, &DecodeError{Path: name, Reason: reason}
			}
			w.Raw(name, found[i])
		case !optional:
			return nil, &DecodeError{Path: name, Reason: "is missing"}
		}
	}
	return w.Close(), nil
}

// fault says why a value is not of a kind; it is empty if the value is.
func fault(kind string, v []byte) string {
	is := rawjson.KindOf(v)
	switch kind {
	case "any":
		return ""
	case "nothing":
		return "does not belong here"
	case "string":
		return reasonUnless(is == rawjson.String, "want a string")
	case "flag":
		return reasonUnless(is == rawjson.Bool, "want true or false")
	case "list":
		return reasonUnless(is == rawjson.Array, "want an array")
	case "record":
		return reasonUnless(is == rawjson.Object, "want an object")
	case "records":
		for _, e := range rawjson.Members(v) {
			if rawjson.KindOf(e) != rawjson.Object {
				return "want an object of objects"
			}
		}
		return fault("record", v)
	case "true", "false":
		return reasonUnless(string(v) == kind, "want "+kind)
	case "requested":
		return approvalFault("approved?=nothing reason?=nothing", v)
	case "responded":
		return approvalFault("approved=flag reason?=string", v)
	case "approved":
		return approvalFault("approved=true reason?=string", v)
	case "denied":
		return approvalFault("approved=false reason?=string", v)
	}
	words := strings.Split(kind, "|")
	word, ok := rawjson.Unquote(v)
	return reasonUnless(ok && slices.Contains(words, word), "want one of "+strings.Join(words, ", "))
}

func approvalFault(decision shape, v []byte) string {
	_, err := (approvalShape + decision).strip(v)
	return reasonUnless(err == nil, "want a fitting approval")
}

func reasonUnless(ok bool, reason string) string {
	if ok {
		return ""
	}
	return reason
}
