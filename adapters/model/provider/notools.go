package provider

import (
	"context"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

// noToolsNote is appended to the system text of a request whose tools were removed.
const noToolsNote = "\n\nNo tools can be called in this conversation, whatever the text above says about them. Write your answer as plain text: people get it as it is.\n"

// refusesTools recognizes how services say that a model accepts no tools.
func refusesTools(err *model.Error) bool {
	switch err.Reason {
	case model.ReasonBadRequest, model.ReasonNotFound, model.ReasonOverloaded, model.ReasonAddress:
	default:
		return false
	}
	words := strings.ToLower(err.Message)
	if !containsAny(words, "tool", "function call", "function_call", "工具", "函数调用") ||
		containsAny(words, "parallel", "schema", "parameters", "declarations", "tool_call_id") {
		return false
	}
	return containsAny(words, "not support", "n't support", "unsupported", "no endpoints found that support", "does not accept", "not available for",
		"--enable-auto-tool-choice", "--tool-call-parser", "--jinja", "not enabled", "unknown parameter", "unrecognized request argument", "extra inputs are not permitted", "不支持")
}

// withoutTools rewrites a request for a model that accepts no tools: earlier calls and their
// results become text. Equal requests give equal results, so that requests still share their
// beginning.
func withoutTools(req model.Request) model.Request {
	if len(req.Tools) > 0 {
		req.System += noToolsNote
	}
	req.Tools, req.ToolChoice = nil, ""
	messages := make([]modelmessage.Message, len(req.Messages))
	for i, m := range req.Messages {
		messages[i] = plainMessage(m)
	}
	req.Messages = messages
	return req
}

func plainMessage(m modelmessage.Message) modelmessage.Message {
	parts := make([]modelmessage.Part, 0, len(m.Parts))
	plain := true
	for _, part := range m.Parts {
		switch p := part.(type) {
		case modelmessage.ToolCall:
			parts, plain = append(parts, modelmessage.Text{Text: "[used " + p.ToolName + " with " + string(p.Input) + "]"}), false
		case modelmessage.ToolResult:
			parts, plain = append(parts, modelmessage.Text{Text: "[result of " + p.ToolName + ": " + resultText(p.Output) + "]"}), false
		default:
			parts = append(parts, part)
		}
	}
	switch {
	case plain:
		return m
	case m.Role == modelmessage.RoleTool:
		m.Role = modelmessage.RoleUser
	}
	m.Parts = parts
	return m
}

// resultText returns a result as one text.
func resultText(o modelmessage.Output) string {
	switch {
	case o.Text != "":
		return o.Text
	case o.Reason.Set:
		return o.Reason.Value
	}
	return string(o.JSON)
}

// loseTools records that the model accepts no tools, until the host ends.
func (e *endpoint) loseTools(ctx context.Context, failed *model.Error) {
	if e.noTools.CompareAndSwap(false, true) {
		e.log.WarnContext(ctx, "the model refuses tools and is asked without them from now on; set llm.tools to false to skip this question", "error", failed)
	}
}
