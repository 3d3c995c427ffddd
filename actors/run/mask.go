package run

import (
	"encoding/json"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
)

// masker masks secrets in what a tool returns, in success and failure.
type masker struct {
	mask func(json.RawMessage) json.RawMessage // nil masks nothing
}

// maskedError is an error with secrets masked in its text.
type maskedError struct {
	error
	text string
}

func (e maskedError) Error() string { return e.text }

// Unwrap returns the original error for errors.Is and errors.As.
func (e maskedError) Unwrap() error { return e.error }

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
		if text := m.text(err.Error()); text != err.Error() {
			err = maskedError{err, text}
		}
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
