package uimessage

import (
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/messages/internal/rawjson"
)

// field is a member that the SDK's schemas know.
type field struct {
	name     string
	optional bool
	// want is empty, or what is wrong with a value that is there.
	want func(v []byte) string
}

// shape is the members of an object. Members that it does not know are dropped.
type shape []field

// strip returns the object with its known members only, or the first fault. The
// last of equal names counts.
func (s shape) strip(v []byte) ([]byte, error) {
	if rawjson.KindOf(v) != rawjson.Object {
		return nil, &DecodeError{Reason: "want an object"}
	}
	found := make([][]byte, len(s))
	for k, e := range rawjson.Members(v) {
		if i := slices.IndexFunc(s, func(f field) bool { return f.name == string(k) }); i >= 0 {
			found[i] = e
		}
	}
	var w rawjson.Writer
	w.Open()
	for i, f := range s {
		switch {
		case found[i] != nil:
			if reason := f.want(found[i]); reason != "" {
				return nil, &DecodeError{Path: f.name, Reason: reason}
			}
			w.Raw(f.name, found[i])
		case !f.optional:
			return nil, &DecodeError{Path: f.name, Reason: "is missing"}
		}
	}
	w.Close()
	return w.Buf, nil
}

func required(name string, want func(v []byte) string) field { return field{name: name, want: want} }

func optional(name string, want func(v []byte) string) field {
	return field{name: name, optional: true, want: want}
}

func anything([]byte) string { return "" }

func nothing([]byte) string { return "does not belong here" }

func kind(k rawjson.Kind, reason string) func(v []byte) string {
	return func(v []byte) string {
		if rawjson.KindOf(v) == k {
			return ""
		}
		return reason
	}
}

func aString(v []byte) string { return kind(rawjson.String, "want a string")(v) }
func aFlag(v []byte) string   { return kind(rawjson.Bool, "want true or false")(v) }
func aList(v []byte) string   { return kind(rawjson.Array, "want an array")(v) }
func aRecord(v []byte) string { return kind(rawjson.Object, "want an object")(v) }

func oneOf(words ...string) func(v []byte) string {
	return func(v []byte) string {
		if s, ok := rawjson.Unquote(v); ok && slices.Contains(words, s) {
			return ""
		}
		return "want one of " + strings.Join(words, ", ")
	}
}

func literal(text string) func(v []byte) string {
	return func(v []byte) string {
		if string(v) == text {
			return ""
		}
		return "want " + text
	}
}

// providerMetadata is an object of objects.
func providerMetadata(v []byte) string {
	if reason := aRecord(v); reason != "" {
		return reason
	}
	for _, e := range rawjson.Members(v) {
		if reason := aRecord(e); reason != "" {
			return "want an object of objects"
		}
	}
	return ""
}

// approval checks an approval whose decision is as said; nil means that there is
// none yet.
func approval(approved func(v []byte) string) func(v []byte) string {
	s := approvalShape(approved)
	return func(v []byte) string {
		if _, err := s.strip(v); err != nil {
			return "want a fitting approval"
		}
		return ""
	}
}

func approvalShape(approved func(v []byte) string) shape {
	s := shape{required("id", aString), optional("descriptor", anything), optional("signature", aString), optional("inputSchemaInput", anything)}
	if approved == nil {
		return append(s, optional("approved", nothing), optional("reason", nothing))
	}
	return append(s, required("approved", approved), optional("reason", aString))
}

// messageShape is a message; its parts are looked at one by one.
func messageShape() shape {
	return shape{
		required("id", aString), required("role", oneOf("system", "user", "assistant")), optional("metadata", anything), required("parts", aList),
	}
}

// shapeOf is the shape of a part by type and, for calls, state; nil if there is none.
func shapeOf(name, state string) shape {
	metadata := optional("providerMetadata", providerMetadata)
	textState := optional("state", oneOf("streaming", "done"))
	s := shape{required("type", aString)}
	switch {
	case name == typeText:
		return append(s, required("text", aString), textState, metadata)
	case name == typeReasoning:
		return append(s, optional("id", aString), required("text", aString), textState, metadata)
	case name == typeSourceURL:
		return append(s, required("sourceId", aString), required("url", aString), optional("title", aString), metadata)
	case name == typeSourceDocument:
		return append(s, required("sourceId", aString), required("mediaType", aString), required("title", aString), optional("filename", aString), metadata)
	case name == typeFile:
		return append(s, required("mediaType", aString), optional("filename", aString), required("url", aString), metadata)
	case name == typeStepStart:
		return s
	case strings.HasPrefix(name, prefixData):
		return append(s, optional("id", aString), required("data", anything))
	case name == typeDynamicTool:
		return toolShape(append(s, required("toolName", aString), optional("dynamic", literal("false"))), ToolState(state))
	case strings.HasPrefix(name, prefixTool):
		return toolShape(s, ToolState(state))
	default:
		return nil
	}
}

// toolShape adds the members of a call in a state.
func toolShape(s shape, state ToolState) shape {
	s = append(s,
		required("toolCallId", aString), required("state", aString), optional("toolMetadata", aRecord),
		optional("providerExecuted", aFlag), optional("callProviderMetadata", providerMetadata))
	input, noOutput, noError := required("input", anything), optional("output", nothing), optional("errorText", nothing)
	result := optional("resultProviderMetadata", providerMetadata)
	switch state {
	case ToolInputStreaming:
		return append(s, optional("input", anything), optional("rawInput", aString), optional("inputEncoding", oneOf("json", "text")),
			noOutput, noError, optional("approval", nothing))
	case ToolInputAvailable:
		return append(s, input, noOutput, noError, optional("approval", nothing))
	case ToolApprovalRequested:
		return append(s, input, noOutput, noError, required("approval", approval(nil)))
	case ToolApprovalResponded:
		return append(s, input, noOutput, noError, required("approval", approval(aFlag)))
	case ToolOutputAvailable:
		return append(s, input, required("output", anything), noError, optional("preliminary", aFlag), result, optional("approval", approval(literal("true"))))
	case ToolOutputError:
		return append(s, optional("input", anything), optional("rawInput", anything), noOutput, required("errorText", aString), result,
			optional("approval", approval(literal("true"))))
	case ToolOutputDenied:
		return append(s, input, noOutput, noError, required("approval", approval(literal("false"))))
	default:
		return nil
	}
}
