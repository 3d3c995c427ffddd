package answer

import (
	"encoding/json"

	"github.com/tidwall/gjson"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/internal/lenient"
)

// chunk holds the fields of one event of a streaming answer, or of the whole answer of a server
// that does not stream. Servers differ, so fields of unexpected types count as absent.
type chunk struct {
	id, model, created gjson.Result
	choices, usage     gjson.Result
	groq               gjson.Result // x_groq, where Groq reports the usage
	// failure is the field error. Errors without that field have an object or type named "error".
	failure, object, kind gjson.Result
}

func readChunk(root gjson.Result) (c chunk) {
	root.ForEach(func(key, value gjson.Result) bool {
		switch key.Str {
		case "id":
			c.id = value
		case "model":
			c.model = value
		case "created":
			c.created = value
		case "choices":
			if value.IsArray() {
				c.choices = value
			}
		case "usage":
			c.usage = value
		case "x_groq":
			c.groq = lenient.Object(value)
		case "error":
			c.failure = value
		case "object":
			c.object = value
		case "type":
			c.kind = value
		}
		return true
	})
	return c
}

// errorIn returns the error object of the chunk, if there is one.
func (c *chunk) errorIn(root gjson.Result) (object gjson.Result, ok bool) {
	if lenient.Present(c.failure) {
		return c.failure, true
	}
	return root, (c.object.Str == "error" || c.kind.Str == "error") && !lenient.Present(c.choices.Get("0"))
}

// usageIn returns the usage object, wherever the server puts it.
func (c *chunk) usageIn(first choice) gjson.Result {
	switch {
	case lenient.Present(c.usage):
		return c.usage
	case lenient.Present(c.groq):
		return c.groq.Get("usage")
	}
	return first.usage
}

// choice is a chunk's part of one answer. Requests ask for only one answer.
type choice struct {
	index, delta, message, finish, usage, failure gjson.Result
}

// first returns the choice with index 0, or without an index.
func (c *chunk) first() (found choice, ok bool) {
	c.choices.ForEach(func(_, value gjson.Result) bool {
		found = choice{}
		value.ForEach(func(key, value gjson.Result) bool {
			switch key.Str {
			case "index":
				found.index = value
			case "delta":
				found.delta = value
			case "message":
				found.message = value
			case "finish_reason":
				found.finish = value
			case "usage":
				found.usage = value
			case "error":
				found.failure = value
			}
			return true
		})
		n, _ := lenient.Integer(found.index)
		ok = n == 0
		return !ok
	})
	return found, ok
}

// delta is what a chunk adds to the answer.
type delta struct {
	content, refusal, calls gjson.Result
	reasoning, thoughts     gjson.Result // reasoning_content and reasoning, the two usual names
}

func readDelta(r gjson.Result) (d delta) {
	r.ForEach(func(key, value gjson.Result) bool {
		switch key.Str {
		case "content":
			d.content = value
		case "refusal":
			d.refusal = value
		case "tool_calls":
			if value.IsArray() {
				d.calls = value
			}
		case "reasoning_content":
			d.reasoning = value
		case "reasoning":
			d.thoughts = value
		}
		return true
	})
	return d
}

// usageOf decodes a usage object in the variants of several providers.
func usageOf(raw json.RawMessage) model.Usage {
	if len(raw) == 0 {
		return model.Usage{}
	}
	r := lenient.Object(gjson.ParseBytes(raw))
	cached := r.Get("prompt_tokens_details.cached_tokens")
	for _, name := range []string{"prompt_cache_hit_tokens", "cached_tokens"} {
		if cached.Type != gjson.Number {
			cached = r.Get(name)
		}
	}
	return model.Usage{
		InputTokens:       lenient.Count(r.Get("prompt_tokens")),
		CachedInputTokens: lenient.Count(cached),
		CacheWriteTokens:  lenient.Count(r.Get("prompt_tokens_details.cache_write_tokens")),
		OutputTokens:      lenient.Count(r.Get("completion_tokens")),
		ReasoningTokens:   lenient.Count(r.Get("completion_tokens_details.reasoning_tokens")),
		Raw:               raw,
	}
}
