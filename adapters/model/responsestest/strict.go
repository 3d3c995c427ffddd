package responsestest

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
)

// The rules of a request, as docs/design/0014-responses-request.md numbers and explains them.
const (
	ruleMembers   = "R1 known members"
	ruleStateless = "R2 nothing is stored"
	ruleParts     = "R3 roles and their parts"
	ruleFiles     = "R4 images and files"
	ruleCalls     = "R5 calls are whole"
	rulePairs     = "R6 calls and outputs pair"
	ruleIDs       = "R7 item ids"
	ruleReasoning = "R8 reasoning is whole"
	ruleFollows   = "R9 reasoning and its item"
	ruleTools     = "R10 tools"
	ruleSchemas   = "R11 strict schemas"
	ruleChoice    = "R12 tool choice"
	ruleSettings  = "R13 settings"
	ruleEncrypted = "R14 encrypted content"
)

// includeEncrypted asks for reasoning that a client can send back.
const includeEncrypted = "reasoning.encrypted_content"

// members returns the members of an object, by its type or the role of a message.
func members(of string) []string {
	return strings.Fields(map[string]string{
		"body": "background context_management conversation include input instructions max_output_tokens max_tool_calls " +
			"metadata model moderation parallel_tool_calls previous_response_id prompt prompt_cache_key " +
			"prompt_cache_options prompt_cache_retention reasoning safety_identifier service_tier store stream " +
			"stream_options temperature text tool_choice tools top_logprobs top_p truncation user",
		"user":        "type role content status",
		"system":      "type role content status",
		"developer":   "type role content status",
		"assistant":   "type role content status id phase",
		typeCall:      "type id call_id name arguments status namespace caller",
		typeOutput:    "type id call_id output status name namespace caller",
		typeReasoning: "type id summary content encrypted_content",

		"input_text":   "type text prompt_cache_breakpoint",
		"input_image":  "type image_url file_id detail prompt_cache_breakpoint",
		"input_file":   "type file_id filename file_data file_url detail prompt_cache_breakpoint",
		"output_text":  "type text annotations logprobs",
		"refusal":      "type refusal",
		"summary_text": "type text",

		"function": "type name description parameters strict output_schema defer_loading allowed_callers",
		"choice":   "type name",
	}[of])
}

// StrictBody reports every rule that the body of a request breaks, nil if it breaks none. Rules about the items of earlier
// answers are checked only by [Server].
func StrictBody(raw []byte) error {
	_, err := read(raw)
	return err
}

type fault struct{ rule, param, code, text string }

func (f *fault) Error() string { return f.rule + ": " + f.param + ": " + f.text }

type checker struct{ faults []error }

func (c *checker) fault(rule, param, format string, args ...any) {
	c.faults = append(c.faults, &fault{rule: rule, param: param, text: fmt.Sprintf(format, args...)})
}

// read decodes and checks a body. The result is nil if it is not a request.
func read(raw []byte) (*body, error) {
	c, b := &checker{}, &body{}
	if !c.decode("body", raw, b, "body") || !utf8.Valid(raw) {
		c.fault(ruleMembers, "body", "is no request")
		return nil, errors.Join(c.faults...)
	}
	if b.Store == nil || *b.Store || b.PreviousID != nil || b.Conversation != nil || b.Background {
		c.fault(ruleStateless, "store", "is not false, or something is given that needs a stored response")
	}
	list := []json.RawMessage{slices.Concat([]byte(`{"role":"user","content":`), b.Input, []byte("}"))}
	if begins(b.Input, '[') {
		_ = json.Unmarshal(b.Input, &list) // it is a list: the whole body was decoded
	}
	if len(list) == 0 {
		c.fault(ruleParts, "input", "is empty")
	}
	for i, raw := range list {
		if it, ok := c.item(fmt.Sprintf("input[%d]", i), raw); ok {
			b.items = append(b.items, it)
		}
	}
	c.sequence(b.items)
	c.tools(b)
	c.choice(b)
	c.settings(b)
	return b, errors.Join(c.faults...)
}

// begins reports whether a JSON value begins with a byte, which shows its type.
func begins(raw json.RawMessage, first byte) bool { return len(raw) > 0 && raw[0] == first }

// decode reads an object of a kind, and reports whether it could be read.
func (c *checker) decode(at string, raw json.RawMessage, v any, kind string) bool {
	var object map[string]json.RawMessage
	if err := cmp.Or(json.Unmarshal(raw, &object), json.Unmarshal(raw, v)); err != nil || object == nil {
		c.fault(ruleMembers, at, "is not the object that it should be: %v", err)
		return false
	}
	known := members(kind)
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if !slices.Contains(known, name) {
			c.faults = append(c.faults, &fault{ruleMembers, at + "." + name, "unknown_parameter", "is unknown here"})
		}
	}
	return true
}

// item reads and checks an input item, and reports whether it is of a known type.
func (c *checker) item(at string, raw json.RawMessage) (it item, ok bool) {
	_ = json.Unmarshal(raw, &it) // decode reports what is wrong
	kind, kinds := it.Type, []string{typeCall, typeOutput, typeReasoning}
	if kind == "" || kind == typeMessage {
		kind, kinds = it.Role, []string{"user", "system", "developer", "assistant"}
	}
	if !slices.Contains(kinds, kind) {
		c.fault(ruleParts, at, "%q is no role or type that is served here", kind)
		return it, false
	}
	if !c.decode(at, raw, &it, kind) {
		return it, false
	}
	input := []string{"input_text", "input_image", "input_file"}
	switch kind {
	case typeCall, typeOutput:
		if n := len(it.CallID); n == 0 || n > 64 {
			c.fault(ruleCalls, at+".call_id", "has length %d, not 1 to 64", n)
		}
		if kind == typeOutput {
			it.parts = c.content(at+".output", it.Output, input...)
		} else if !modeltest.WellNamed(it.Name) || !json.Valid([]byte(it.Arguments)) {
			c.fault(ruleCalls, at, "has a bad name %q or arguments that are no JSON text", it.Name)
		}
	case typeReasoning:
		if it.ID == "" || it.Encrypted == "" || !begins(it.Summary, '[') {
			c.fault(ruleReasoning, at, "lacks id, summary or encrypted_content")
		}
		it.parts = c.content(at+".summary", it.Summary, "summary_text")
	default:
		it.Type = typeMessage
		if it.Role == "assistant" {
			input = []string{"output_text", "refusal"}
		}
		if it.parts = c.content(at+".content", it.Content, input...); len(it.parts) == 0 || string(it.Content) == `""` {
			c.fault(ruleParts, at+".content", "is empty")
		}
	}
	return it, true
}

// content is a text or a list of parts of the given types.
func (c *checker) content(at string, raw json.RawMessage, kinds ...string) (parts []part) {
	var text *string
	var list []json.RawMessage
	if json.Unmarshal(raw, &text) == nil && text != nil {
		return []part{{Type: kinds[0], Text: text}}
	}
	if json.Unmarshal(raw, &list) != nil || list == nil {
		c.fault(ruleParts, at, "is neither a text nor a list of parts")
	}
	for i, raw := range list {
		at := fmt.Sprintf("%s[%d]", at, i)
		var p part
		_ = json.Unmarshal(raw, &p) // decode reports what is wrong
		if !slices.Contains(kinds, p.Type) {
			c.fault(ruleParts, at+".type", "Invalid value: '%s'. Supported values are: %v.", p.Type, kinds)
		} else if c.decode(at, raw, &p, p.Type) && c.part(at, p) {
			parts = append(parts, p)
		}
	}
	return parts
}

// part reports whether a part has what its type needs.
func (c *checker) part(at string, p part) (ok bool) {
	media, isData := dataURL(p.ImageURL + p.FileData)
	link := p.ImageURL + p.FileURL
	isLink := strings.HasPrefix(link, "https://") || strings.HasPrefix(link, "http://")
	forms := slices.DeleteFunc([]string{p.FileID, p.FileURL, p.FileData, p.ImageURL}, func(s string) bool { return s == "" })
	switch p.Type {
	case "input_image":
		ok = p.FileID != "" || isLink || isData && slices.Contains(strings.Fields("image/png image/jpeg image/webp image/gif"), media)
	case "input_file":
		ok = p.FileID != "" || isLink || isData && p.Filename != ""
	default:
		if ok = p.Text != nil || p.Refusal != nil; !ok {
			c.fault(ruleParts, at, "lacks its text")
		}
		return ok
	}
	if ok = ok && len(forms) == 1; !ok {
		c.fault(ruleFiles, at, "wants one of an id, a link and a base64 data URL of a supported type, a file also its name")
	}
	return ok
}

// dataURL returns the media type of a base64 data URL.
func dataURL(s string) (media string, ok bool) {
	rest, isData := strings.CutPrefix(s, "data:")
	media, data, isBase64 := strings.Cut(rest, ";base64,")
	_, err := base64.StdEncoding.DecodeString(data)
	return media, isData && isBase64 && media != "" && data != "" && err == nil
}

// sequence checks the ids, that calls and outputs pair, and what follows reasoning.
func (c *checker) sequence(items []item) {
	prefixes := map[string]string{typeMessage: "msg", typeCall: "fc", typeReasoning: "rs"}
	seen, answered := map[string]bool{}, map[string]bool{}
	for i, it := range items {
		switch {
		case it.ID == "":
		case !strings.HasPrefix(it.ID, prefixes[it.Type]):
			c.fault(ruleIDs, fmt.Sprintf("input[%d].id", i), "Expected an ID that begins with '%s'.", prefixes[it.Type])
		case seen[it.ID]:
			c.fault(ruleIDs, "input", "Duplicate item found with id %s.", it.ID)
		}
		seen[it.ID] = true
		done, called := answered[it.CallID]
		switch it.Type {
		case typeCall:
			if called {
				c.fault(rulePairs, "input", "there are two calls %q", it.CallID)
			}
			answered[it.CallID] = false
		case typeOutput:
			if !called || done {
				c.fault(rulePairs, "input", "No tool call found for function call output with call_id %s.", it.CallID)
			}
			answered[it.CallID] = true
		case typeReasoning:
			if following(items[i:]) == nil {
				c.unfollowed(it)
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(answered)) {
		if !answered[id] {
			c.fault(rulePairs, "input", "No tool output found for function call %s.", id)
		}
	}
}

func (c *checker) unfollowed(it item) {
	c.fault(ruleFollows, "input", "Item '%s' of type 'reasoning' was provided without its required following item.", it.ID)
}

// following returns the first item that is not reasoning, if a model produced it.
func following(items []item) *item {
	i := slices.IndexFunc(items, func(it item) bool { return it.Type != typeReasoning })
	if i < 0 || items[i].Type != typeCall && items[i].Role != "assistant" {
		return nil
	}
	return &items[i]
}
