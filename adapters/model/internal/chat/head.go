package chat

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/internal/protocol"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

// AppendHead implements [protocol.Form]: everything up to the first message.
func (e *form) AppendHead(dst []byte, req model.Request) []byte {
	s := e.opts
	dst = protocol.AppendString(append(dst, `{"model":`...), s.Model)
	if limit := cmp.Or(req.MaxOutputTokens, s.MaxOutputTokens); limit > 0 {
		field := cmp.Or(s.MaxTokensField, protocol.MaxTokens)
		if !e.TakesThought(field) {
			field = "max_completion_tokens"
		}
		dst = protocol.AppendMember(dst, field)
		dst = strconv.AppendInt(dst, int64(limit), 10)
	}
	for _, m := range s.Members {
		dst = modelmessage.AppendJSON(protocol.AppendMember(dst, m.Name), m.Value)
	}
	thinking := s.Efforts.For(req)
	if thinking.Type != "" {
		dst = append(protocol.AppendString(append(dst, `,"thinking":{"type":`...), thinking.Type), '}')
	}
	if thinking.Effort != "" {
		dst = protocol.AppendString(protocol.AppendMember(dst, "reasoning_effort"), thinking.Effort)
	}
	dst = append(dst, `,"stream":true`...)
	if e.TakesThought(protocol.StreamOptions) {
		dst = append(dst, `,"stream_options":{"include_usage":true}`...)
	}
	dst = appendTools(dst, req)
	return append(dst, `,"messages":`...)
}

func appendTools(dst []byte, req model.Request) []byte {
	if len(req.Tools) == 0 {
		return dst
	}
	dst = protocol.AppendList(append(dst, `,"tools":`...), req.Tools, appendTool)
	return appendToolChoice(dst, req.ToolChoice)
}

func appendTool(dst []byte, t model.ToolSpec) []byte {
	dst = append(dst, `{"type":"function","function":{"name":`...)
	dst = protocol.AppendString(dst, t.Name)
	if t.Description != "" {
		dst = protocol.AppendString(protocol.AppendMember(dst, "description"), t.Description)
	}
	return append(protocol.AppendSchema(protocol.AppendMember(dst, "parameters"), t.InputSchema), '}', '}')
}

func appendToolChoice(dst []byte, choice string) []byte {
	dst = append(dst, `,"tool_choice":`...)
	if name, ok := strings.CutPrefix(choice, "tool:"); ok {
		dst = append(dst, `{"type":"function","function":{"name":`...)
		return append(protocol.AppendString(dst, name), '}', '}')
	}
	return protocol.AppendString(dst, cmp.Or(choice, "auto"))
}
