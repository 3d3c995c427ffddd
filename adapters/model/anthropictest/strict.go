package anthropictest

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
)

// The rules of a request, as docs/design/0013-messages-request.md numbers and explains them, with
// the page of platform.claude.com that documents each. "Service" marks a refusal of the service
// that no page documents.
const (
	ruleFields    = "M1 known fields"            // Create a Message; message.go of the Go SDK
	ruleRequired  = "M2 required fields"         // Create a Message
	ruleRoles     = "M3 roles"                   // Create a Message; service
	ruleContent   = "M4 content"                 // Create a Message; service
	ruleText      = "M5 text is not empty"       // Prompt caching; service
	ruleLast      = "M6 the last message"        // Errors; Thinking; service
	ruleCall      = "M7 calls are well formed"   // Handle tool calls; service
	ruleAnswered  = "M8 calls are answered"      // Handle tool calls; service
	ruleTools     = "M9 tools are well formed"   // Define tools; service
	ruleChoice    = "M10 tool choice"            // Define tools; Thinking; service
	ruleCache     = "M11 cache breakpoints"      // Prompt caching; service
	ruleThinking  = "M12 thinking configuration" // Extended thinking; Thinking
	ruleSampling  = "M13 sampling"               // Thinking, "Limits and feature compatibility"
	ruleMedia     = "M14 media"                  // Vision; PDF support; service
	ruleSignature = "M15 thinking is signed"     // Thinking, "Thinking encryption"; service
	ruleKept      = "M16 thinking is kept"       // Errors; Thinking, "Preserving thinking blocks"
)

// shapes are the objects of a request that we send, after the ...Params types of message.go: a name,
// where a block may be (u: user, a: assistant, s: system, r: result), and the members, of which those
// with a question mark are optional. The tools that the service runs itself are not among them.
const shapes = `
create                 - max_tokens messages model cache_control? container? diagnostics? inference_geo? metadata? output_config? service_tier? speed? stop_sequences? stream? system? temperature? thinking? tool_choice? tools? top_k? top_p?
message                - content role
text                   uasr type text cache_control? citations?
image                  ur type source cache_control? transformations?
document               ur type source cache_control? citations? context? title?
tool_result            u type tool_use_id cache_control? content? is_error? toolset_name?
tool_use               a type id input name cache_control? caller? toolset_name?
thinking               a type signature thinking
redacted_thinking      a type data
image.base64           - type media_type data
image.url              - type url
document.base64        - type media_type data
document.text          - type media_type data
document.url           - type url
tool                   - name input_schema type? description? cache_control? strict? defer_loading? eager_input_streaming? allowed_callers? input_examples?
choice.auto            - type disable_parallel_tool_use?
choice.any             - type disable_parallel_tool_use?
choice.tool            - type name disable_parallel_tool_use?
choice.none            - type
thinking.enabled       - type budget_tokens
thinking.adaptive      - type
thinking.disabled      - type
cache_control          - type ttl?
`

// The limits that the pages of the rules name.
const (
	maxMessages    = 100_000
	maxBreakpoints = 4
	minBudget      = 1024
	minThinkingP   = 0.95
)

// StrictBody reports every rule that the body of a POST /v1/messages breaks, nil if it breaks none.
// What depends on earlier answers, M15 and M16, only a [Server] can check.
func StrictBody(body []byte) error {
	b, err := decode(body)
	if err != nil {
		return err
	}
	c := &checker{}
	c.check(b)
	return errors.Join(c.faults...)
}

type checker struct{ faults []error }

// check checks a body against the rules.
func (c *checker) check(b wireBody) {
	c.shape(ruleFields, "body", "create", "-", b.fields)
	if b.Model == "" {
		c.fault(ruleRequired, "model", "String should have at least 1 character")
	}
	if b.fields.has("max_tokens") && b.MaxTokens < 1 {
		c.fault(ruleRequired, "max_tokens", "a stream must have at least 1")
	}
	if n := len(b.Messages); n == 0 || n > maxMessages {
		c.fault(ruleRequired, "messages", "there are %d", n)
	}
	for i, block := range b.System {
		c.block(fmt.Sprintf("system.%d", i), block, "s")
	}
	c.messages(b)
	c.last(b)
	c.tools(b)
	c.choice(b)
	c.thinking(b)
	c.breakpoints(b)
}

func (c *checker) fault(rule, path, format string, args ...any) {
	c.faults = append(c.faults, fmt.Errorf("%s: %s: %s", rule, path, fmt.Sprintf(format, args...)))
}

// shape checks the members of an object. It returns false, which breaks the rule, if there is no such object in this
// place.
func (c *checker) shape(rule, path, name, place string, o object) bool {
	for line := range strings.Lines(shapes) {
		members := strings.Fields(line)
		if len(members) < 2 || members[0] != name || !strings.Contains(members[1], cmp.Or(place, "?")) {
			continue
		}
		for _, m := range members[2:] {
			if !strings.HasSuffix(m, "?") && !o.has(m) {
				c.fault(ruleRequired, path+"."+m, "Field required")
			}
		}
		for _, m := range slices.Sorted(maps.Keys(o)) {
			if !slices.Contains(members[2:], m) && !slices.Contains(members[2:], m+"?") {
				c.fault(ruleFields, path+"."+m, "Extra inputs are not permitted")
			}
		}
		return true
	}
	c.fault(rule, path, "%q is not allowed here", name)
	return false
}

func (c *checker) messages(b wireBody) {
	var open []string // the calls of the previous message
	used := map[string]bool{}
	for i, m := range b.Messages {
		path := fmt.Sprintf("messages.%d", i)
		c.shape(ruleContent, path, "message", "-", m.fields)
		if m.Role != "user" && m.Role != "assistant" {
			c.fault(ruleRoles, path, "Unexpected role %q. The Messages API accepts a top-level `system` parameter", m.Role)
		} else if i == 0 && m.Role != "user" {
			c.fault(ruleRoles, path, `first message must use the "user" role`)
		}
		if len(m.Content) == 0 {
			c.fault(ruleContent, path, "all messages must have non-empty content")
		}
		c.results(i, m.Content, open)
		open = nil
		for j, block := range m.Content {
			at := fmt.Sprintf("%s.content.%d", path, j)
			c.block(at, block, m.Role[:min(1, len(m.Role))])
			if block.text("type") == "tool_use" {
				c.call(at, block, used)
				open = append(open, block.text("id"))
			}
		}
		if n := len(m.Content); n > 0 && m.Role == "assistant" && thought(m.Content[n-1]) != "" {
			c.fault(ruleContent, path, "The final block in an assistant message cannot be `thinking`")
		}
	}
	c.results(len(b.Messages), nil, open)
}

// results requires the results of all open calls at the start of a message.
func (c *checker) results(i int, blocks content, open []string) {
	answered := map[string]bool{}
	others := false
	for j, b := range blocks {
		path, id := fmt.Sprintf("messages.%d.content.%d", i, j), b.text("tool_use_id")
		switch {
		case b.text("type") != "tool_result":
			others = true
			continue
		case others:
			c.fault(ruleAnswered, path, "`tool_result` blocks must come first in the message")
		case !slices.Contains(open, id):
			c.fault(ruleAnswered, path, "unexpected `tool_use_id` found in `tool_result` blocks: %s", id)
		case answered[id]:
			c.fault(ruleAnswered, path, "each tool_use must have a single result. Found multiple `tool_result` blocks with id: %s", id)
		}
		answered[id] = true
	}
	for _, id := range open {
		if !answered[id] {
			c.fault(ruleAnswered, fmt.Sprintf("messages.%d", i-1), "`tool_use` ids were found without `tool_result` blocks immediately after: %s", id)
		}
	}
}

func (c *checker) call(path string, b object, used map[string]bool) {
	id := b.text("id")
	if id == "" || strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" {
		c.fault(ruleCall, path+".id", "String should match pattern '^[a-zA-Z0-9_-]+$'")
	} else if used[id] {
		c.fault(ruleCall, path, "`tool_use` ids must be unique")
	}
	used[id] = true
	if !modeltest.WellNamed(b.text("name")) {
		c.fault(ruleCall, path+".name", "String should match pattern '^[a-zA-Z0-9_-]{1,64}$'")
	}
	if b.object("input") == nil {
		c.fault(ruleCall, path+".input", "Input should be an object")
	}
}

// last checks an assistant message at the end.
func (c *checker) last(b wireBody) {
	i := len(b.Messages) - 1
	if i < 0 || b.Messages[i].Role != "assistant" || len(b.Messages[i].Content) == 0 {
		return
	}
	path, block := fmt.Sprintf("messages.%d", i), b.Messages[i].Content[len(b.Messages[i].Content)-1]
	text := block.text("text")
	switch {
	case b.thinks():
		c.fault(ruleLast, path, "the assistant message cannot be prefilled while thinking is on")
	case text != strings.TrimRightFunc(text, unicode.IsSpace):
		c.fault(ruleLast, path, "final assistant content cannot end with trailing whitespace")
	}
}

func (c *checker) block(path string, b object, place string) {
	if !c.shape(ruleContent, path, b.text("type"), place, b) {
		return
	}
	text := b.text("text")
	switch kind := b.text("type"); {
	case kind == "image", kind == "document":
		c.source(path+".source", kind, b.object("source"))
	case kind == "tool_result":
		c.nested(path+".content", b)
	case kind != "text", strings.TrimSpace(text) != "":
	case b.has("cache_control"):
		c.fault(ruleCache, path, "cache_control cannot be set for empty text blocks")
	case text == "":
		c.fault(ruleText, path, "text content blocks must be non-empty")
	default:
		c.fault(ruleText, path, "text content blocks must contain non-whitespace text")
	}
}

// nested checks the content of a result. Only there a string may be empty.
func (c *checker) nested(path string, b object) {
	if raw := b["content"]; len(raw) > 0 && raw[0] == '"' {
		return
	}
	blocks, err := b.content()
	if err != nil {
		c.fault(ruleContent, path, "Input should be a valid string or list")
	}
	for i, block := range blocks {
		c.block(fmt.Sprintf("%s.%d", path, i), block, "r")
	}
}

func (c *checker) source(path, kind string, s object) {
	c.shape(ruleMedia, path, kind+"."+s.text("type"), "-", s)
	media := []string{"image/jpeg", "image/png", "image/gif", "image/webp"}
	if kind == "document" {
		media = []string{"application/pdf"}
	}
	switch s.text("type") {
	case "text":
		media = []string{"text/plain"}
	case "base64":
		data, err := base64.StdEncoding.DecodeString(s.text("data"))
		if err != nil || http.DetectContentType(data) != s.text("media_type") {
			c.fault(ruleMedia, path+".data", "not base64, or it does not match the provided media type")
		}
	default:
		return
	}
	if !slices.Contains(media, s.text("media_type")) {
		c.fault(ruleMedia, path+".media_type", "Input should be one of %v", media)
	}
}

func (c *checker) tools(b wireBody) {
	taken := map[string]bool{}
	for i, t := range b.Tools {
		path, name := fmt.Sprintf("tools.%d", i), t.text("name")
		if name != "" && taken[name] {
			c.fault(ruleTools, path, "Tool names must be unique")
		}
		taken[name] = true
		if t.has("type") && t.text("type") != "custom" {
			continue // the service's own tools have members of their own
		}
		c.shape(ruleTools, path, "tool", "-", t)
		if !modeltest.WellNamed(name) {
			c.fault(ruleTools, path+".name", "String should match pattern '^[a-zA-Z0-9_-]{1,64}$'")
		}
		if t.object("input_schema").text("type") != "object" {
			c.fault(ruleTools, path+".input_schema.type", "Input should be 'object'")
		}
	}
}

func (c *checker) choice(b wireBody) {
	if !b.fields.has("tool_choice") {
		return
	}
	kind, name := b.ToolChoice.text("type"), b.ToolChoice.text("name")
	c.shape(ruleChoice, "tool_choice", "choice."+kind, "-", b.ToolChoice)
	switch {
	case len(b.Tools) == 0:
		c.fault(ruleChoice, "tool_choice", "tool_choice may only be specified while providing tools")
	case kind == "tool" && !slices.ContainsFunc(b.Tools, func(t object) bool { return t.text("name") == name }):
		c.fault(ruleChoice, "tool_choice", "tool %q is not among the tools", name)
	case (kind == "tool" || kind == "any") && b.Thinking.text("type") == "enabled":
		c.fault(ruleChoice, "tool_choice", "Thinking may not be enabled when tool_choice forces tool use")
	}
}

func (c *checker) thinking(b wireBody) {
	if !b.fields.has("thinking") {
		return
	}
	kind := b.Thinking.text("type")
	c.shape(ruleThinking, "thinking", "thinking."+kind, "-", b.Thinking)
	var budget int
	if kind == "enabled" && (json.Unmarshal(b.Thinking["budget_tokens"], &budget) != nil || budget < minBudget) {
		c.fault(ruleThinking, "thinking.budget_tokens", "Input should be greater than or equal to %d", minBudget)
	}
	if b.fields.has("max_tokens") && budget >= b.MaxTokens {
		c.fault(ruleThinking, "max_tokens", "`max_tokens` must be greater than `thinking.budget_tokens`")
	}
	switch {
	case !b.thinks():
	case b.Temperature != nil && *b.Temperature != 1:
		c.fault(ruleSampling, "temperature", "`temperature` may only be set to 1 when thinking is enabled")
	case b.TopP != nil && *b.TopP < minThinkingP:
		c.fault(ruleSampling, "top_p", "`top_p` must be at least 0.95 when thinking is enabled")
	case b.fields.has("top_k"):
		c.fault(ruleSampling, "top_k", "`top_k` must be unset when thinking is enabled")
	}
}

func (c *checker) breakpoints(b wireBody) {
	marks, short := 0, false // short is set after a breakpoint of five minutes
	mark := func(path string, o object) {
		if !o.has("cache_control") {
			return
		}
		marks++
		control := o.object("cache_control")
		c.shape(ruleCache, path, "cache_control", "-", control)
		ttl := control.text("ttl")
		if control.text("type") != "ephemeral" || control.has("ttl") && ttl != "5m" && ttl != "1h" {
			c.fault(ruleCache, path, "only ephemeral for 5m or 1h is known")
		}
		if short && ttl == "1h" {
			c.fault(ruleCache, path, "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block")
		}
		short = short || ttl != "1h"
	}
	for _, p := range b.pieces() {
		nested, _ := p.block.content() // invalid content was reported with the block
		for _, block := range nested {
			mark(p.path, block)
		}
		mark(p.path, p.block)
	}
	mark("body", b.fields)
	if marks > maxBreakpoints {
		c.fault(ruleCache, "body", "A maximum of %d blocks with cache_control may be provided. Found %d", maxBreakpoints, marks)
	}
}
