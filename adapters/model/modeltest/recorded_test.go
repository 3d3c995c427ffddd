package modeltest

import (
	"bytes"
	"testing"
)

// These requests are the examples of OpenAI's OpenAPI document (MIT licence, see testdata/recorded),
// so the rules must accept them. Only the role developer is changed: few other services know it (S2).
func TestRecordedRequestsAreAccepted(t *testing.T) {
	Recorded(t, func(body []byte) error {
		return StrictBody(bytes.ReplaceAll(body, []byte(`"role": "developer"`), []byte(`"role": "system"`)))
	})
}
