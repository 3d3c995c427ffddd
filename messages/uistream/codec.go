package uistream

import (
	"fmt"
	"strings"

	"github.com/shipmyagent/shipmyagent/messages/internal/rawjson"
)

// AppendJSON appends a chunk as one line of JSON. The order of members is fixed
// and nothing is escaped that JSON does not ask for; nil is null.
func AppendJSON(dst []byte, chunk Chunk) []byte {
	if chunk == nil {
		return append(dst, "null"...)
	}
	if c, ok := chunk.(Unknown); ok {
		return rawjson.Append(dst, c.Raw)
	}
	f := fields{pass: writing, w: rawjson.Writer{Buf: dst}}
	f.w.Open()
	f.w.Str("type", chunk.Type())
	chunk.write(&f)
	f.w.Close()
	return f.w.Buf
}

// DecodeChunk reads one chunk. Unknown members and chunks are kept. The error
// wraps a *uimessage.DecodeError. The result shares no memory with data.
func DecodeChunk(data []byte) (Chunk, error) {
	if err := rawjson.Check(data); err != nil {
		return nil, fmt.Errorf("decode chunk: %w", &rawjson.Fault{Reason: err.Error()})
	}
	if rawjson.KindOf(data) != rawjson.Object {
		return nil, fmt.Errorf("decode chunk: %w", &rawjson.Fault{Reason: "want an object"})
	}
	name := ""
	if t, ok := rawjson.Lookup(data, "type"); ok {
		name, _ = rawjson.Unquote(t)
	}
	c, err := decodeNamed(name, data)
	if err != nil {
		return nil, fmt.Errorf("decode chunk: %w", err)
	}
	return c, nil
}

func decodeNamed(name string, data []byte) (Chunk, error) {
	switch name {
	case "start":
		return decodeAs[Start](data)
	case "finish":
		return decodeAs[Finish](data)
	case "abort":
		return decodeAs[Abort](data)
	case "message-metadata":
		return decodeAs[MessageMetadata](data)
	case "start-step":
		return decodeAs[StartStep](data)
	case "finish-step":
		return decodeAs[FinishStep](data)
	case "error":
		return decodeAs[Error](data)
	case "text-start":
		return decodeAs[TextStart](data)
	case "text-delta":
		return decodeAs[TextDelta](data)
	case "text-end":
		return decodeAs[TextEnd](data)
	case "reasoning-start":
		return decodeAs[ReasoningStart](data)
	case "reasoning-delta":
		return decodeAs[ReasoningDelta](data)
	case "reasoning-end":
		return decodeAs[ReasoningEnd](data)
	case "source-url":
		return decodeAs[SourceURL](data)
	case "source-document":
		return decodeAs[SourceDocument](data)
	case "file":
		return decodeAs[File](data)
	default:
		return decodeToolOrData(name, data)
	}
}

func decodeToolOrData(name string, data []byte) (Chunk, error) {
	switch name {
	case "tool-input-start":
		return decodeAs[ToolInputStart](data)
	case "tool-input-delta":
		return decodeAs[ToolInputDelta](data)
	case "tool-input-available":
		return decodeAs[ToolInputAvailable](data)
	case "tool-input-error":
		return decodeAs[ToolInputError](data)
	case "tool-approval-request":
		return decodeAs[ToolApprovalRequest](data)
	case "tool-output-available":
		return decodeAs[ToolOutputAvailable](data)
	case "tool-output-error":
		return decodeAs[ToolOutputError](data)
	case "tool-output-denied":
		return decodeAs[ToolOutputDenied](data)
	}
	if dataName, ok := strings.CutPrefix(name, prefixData); ok {
		c, err := decodeAs[Data](data)
		if d, ok := c.(Data); ok {
			d.Name = dataName
			return d, err
		}
		return nil, err
	}
	return Unknown{Name: name, Raw: rawjson.Compact(data)}, nil
}

// decodeAs reads the members of one kind of chunk.
func decodeAs[T Chunk, P interface {
	*T
	members(f *fields)
}](data []byte) (Chunk, error) {
	var c T
	f := fields{pass: reading}
	for k, v := range rawjson.Members(data) {
		if string(k) == "type" {
			continue
		}
		f.key, f.value, f.matched, f.at = k, v, false, 0
		P(&c).members(&f)
	}
	f.pass, f.at = checking, 0
	P(&c).members(&f)
	if f.r.Err != nil {
		return nil, f.r.Err
	}
	return c, nil
}
