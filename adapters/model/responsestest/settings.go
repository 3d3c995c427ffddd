package responsestest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
)

func (c *checker) tools(b *body) {
	for i, raw := range b.Tools {
		at := fmt.Sprintf("tools[%d]", i)
		var t tool
		if !c.decode(at, raw, &t, "function") {
			continue
		}
		if t.Type != "function" || !modeltest.WellNamed(t.Name) || b.offers(t.Name) {
			c.fault(ruleTools, at, "is of type %q, or its name %q is bad or taken", t.Type, t.Name)
		}
		var schema struct{ Type any }
		if json.Unmarshal(t.Parameters, &schema) != nil || schema.Type != "object" {
			c.fault(ruleTools, at+".parameters", "is no schema of type object")
		}
		if t.Strict == nil || *t.Strict {
			c.fault(ruleSchemas, at+".strict", "is not false, so that the service may refuse the schema or change it")
		}
		b.tools = append(b.tools, t)
	}
}

func (b *body) offers(name string) bool {
	return slices.ContainsFunc(b.tools, func(t tool) bool { return t.Name == name })
}

// choice reads the tool choice: a word, or a function.
func (c *checker) choice(b *body) {
	var choice struct{ Type, Name string }
	switch {
	case begins(b.ToolChoice, '{'):
		if c.decode("tool_choice", b.ToolChoice, &choice, "choice"); choice.Type != "function" || !b.offers(choice.Name) {
			c.fault(ruleChoice, "tool_choice", "%s %q is not offered", choice.Type, choice.Name)
		}
		b.choice = "tool:" + choice.Name
	case b.ToolChoice != nil && json.Unmarshal(b.ToolChoice, &b.choice) != nil,
		!slices.Contains([]string{"", "auto", "none", "required"}, b.choice), b.choice == "required" && b.tools == nil:
		c.fault(ruleChoice, "tool_choice", "%s is unknown or wants tools", b.ToolChoice)
	}
}

func (c *checker) settings(b *body) {
	if b.Model == "" {
		c.fault(ruleSettings, "model", "is missing")
	}
	if b.MaxOutputTokens != nil && *b.MaxOutputTokens < 16 {
		c.fault(ruleSettings, "max_output_tokens", "integer below minimum value. Expected a value >= 16.")
	}
	effort := ""
	if b.Reasoning != nil {
		effort = b.Reasoning.Effort
		if !slices.Contains(strings.Split(",none,minimal,low,medium,high,xhigh,max", ","), effort) ||
			!slices.Contains([]string{"", "auto", "concise", "detailed"}, b.Reasoning.Summary) {
			c.fault(ruleSettings, "reasoning", "effort %q or summary %q is unknown", effort, b.Reasoning.Summary)
		}
		if effort != "none" && !slices.Contains(b.Include, includeEncrypted) {
			c.fault(ruleStateless, "include", "lacks %s, without which reasoning cannot be sent back", includeEncrypted)
		}
	}
	isFamily := func(prefix string) bool { return strings.HasPrefix(b.Model, prefix) }
	reasons := slices.ContainsFunc([]string{"o1", "o3", "o4", "gpt-5", "gpt-6"}, isFamily) && !strings.Contains(b.Model, "-chat")
	if reasons && effort != "none" && (b.Temperature != nil || b.TopP != nil || b.TopLogprobs != nil) {
		c.fault(ruleSettings, "temperature", "Unsupported parameter: temperature, top_p and top_logprobs are not supported with this model.")
	}
}
