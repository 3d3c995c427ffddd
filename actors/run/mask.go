package run

import (
	"encoding/json"
	"errors"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
)

// masker masks secrets in what a tool returns, in success and failure.
type masker struct {
	mask func(json.RawMessage) json.RawMessage // nil masks nothing
}

func (m masker) output(out json.RawMessage) json.RawMessage {
	if m.mask == nil || len(out) == 0 {
		return out
	}
	return m.mask(out)
}

func (m masker) result(res tool.Result, err error) (tool.Result, error) {
	if m.mask == nil {
		return res, err
	}
	res.Output, res.Summary = m.output(res.Output), m.text(res.Summary)
	if err != nil {
		err = errors.New(m.text(err.Error()))
	}
	return res, err
}

// text masks a string, encoded as a JSON string.
func (m masker) text(s string) string {
	if s == "" {
		return s
	}
	raw, err := json.Marshal(s)
	if err != nil {
		return s // Unreachable: strings can be encoded
	}
	var out string
	if json.Unmarshal(m.mask(raw), &out) != nil {
		return ""
	}
	return out
}
