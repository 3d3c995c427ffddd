package openai

import (
	"encoding/json"
	"errors"
	"math"

	"github.com/shipmyagent/shipmyagent/adapters/model"
)

// chunk is one event of a streaming answer, or a whole answer of a server that
// does not stream.
type chunk struct {
	ID      string          `json:"id"`
	Model   string          `json:"model"`
	Created float64         `json:"created"`
	Choices []choice        `json:"choices"`
	Usage   json.RawMessage `json:"usage"`
	Error   json.RawMessage `json:"error"`
	// Object is "error" and Message its text where an error has no member of its own.
	Object  string `json:"object"`
	Message string `json:"message"`
	Groq    struct {
		Usage json.RawMessage `json:"usage"`
	} `json:"x_groq"`
}

type choice struct {
	Index        int             `json:"index"`
	Delta        *delta          `json:"delta"`
	Message      *delta          `json:"message"`
	FinishReason *string         `json:"finish_reason"`
	Usage        json.RawMessage `json:"usage"`
}

type delta struct {
	Content          json.RawMessage `json:"content"`
	Refusal          json.RawMessage `json:"refusal"`
	ReasoningContent json.RawMessage `json:"reasoning_content"`
	Reasoning        json.RawMessage `json:"reasoning"`
	ToolCalls        []callDelta     `json:"tool_calls"`
}

type callDelta struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
	Extra struct {
		Google struct {
			ThoughtSignature string `json:"thought_signature"`
		} `json:"google"`
	} `json:"extra_content"`
}

// decodeChunk reads one event. Members of unexpected types are skipped, as
// servers differ; only text that is no JSON is an error.
func decodeChunk(data []byte, c *chunk) error {
	err := json.Unmarshal(data, c)
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return nil
	}
	return err
}

// errorOf is the error object that the chunk carries, nil if there is none.
func (c *chunk) errorOf(data []byte) json.RawMessage {
	switch {
	case !isNull(c.Error):
		return c.Error
	case c.Object == "error" && len(c.Choices) == 0:
		return data
	default:
		return nil
	}
}

// usage is the usage object, wherever the server puts it.
func (c *chunk) usage() json.RawMessage {
	if !isNull(c.Usage) {
		return c.Usage
	}
	if !isNull(c.Groq.Usage) {
		return c.Groq.Usage
	}
	if len(c.Choices) > 0 && !isNull(c.Choices[0].Usage) {
		return c.Choices[0].Usage
	}
	return nil
}

// rawText reads a member that should be a string. Arguments may come as an
// object, which is then their text.
func rawText(raw json.RawMessage) string {
	if isNull(raw) {
		return ""
	}
	if raw[0] != '"' {
		return string(raw)
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// wireUsage is a usage object in the words of several providers.
type wireUsage struct {
	PromptTokens     *float64 `json:"prompt_tokens"`
	CompletionTokens *float64 `json:"completion_tokens"`
	PromptDetails    struct {
		CachedTokens *float64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		ReasoningTokens *float64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	PromptCacheHitTokens *float64 `json:"prompt_cache_hit_tokens"`
	CachedTokens         *float64 `json:"cached_tokens"`
}

func usageOf(raw json.RawMessage) model.Usage {
	if isNull(raw) {
		return model.Usage{}
	}
	var w wireUsage
	if err := decodeLoose(raw, &w); err != nil {
		return model.Usage{}
	}
	cached := w.PromptDetails.CachedTokens
	for _, other := range []*float64{w.PromptCacheHitTokens, w.CachedTokens} {
		if cached == nil {
			cached = other
		}
	}
	return model.Usage{
		InputTokens:       count(w.PromptTokens),
		CachedInputTokens: count(cached),
		OutputTokens:      count(w.CompletionTokens),
		ReasoningTokens:   count(w.CompletionDetails.ReasoningTokens),
		Raw:               raw,
	}
}

func decodeLoose(raw json.RawMessage, v any) error {
	err := json.Unmarshal(raw, v)
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return nil
	}
	return err
}

func count(f *float64) *int64 {
	if f == nil || *f < 0 || *f > math.MaxInt32 {
		return nil
	}
	return new(int64(*f))
}
