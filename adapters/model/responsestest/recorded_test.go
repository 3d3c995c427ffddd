package responsestest

import (
	"encoding/json"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
)

// These requests are the examples of OpenAI's OpenAPI document (MIT licence, see testdata/recorded),
// so the rules must accept them. What this program requires in addition is added: that nothing is
// stored (R2) and that no schema changes its meaning (R11).
func TestRecordedRequestsAreAccepted(t *testing.T) {
	modeltest.Recorded(t, func(raw []byte) error {
		var body object
		if err := json.Unmarshal(raw, &body); err != nil {
			return err
		}
		body["store"], body["include"] = false, []string{includeEncrypted}
		tools, _ := body["tools"].([]any)
		for _, tool := range tools {
			function, _ := tool.(object)
			function["strict"] = false
		}
		raw, err := json.Marshal(body)
		if err != nil {
			return err
		}
		return StrictBody(raw)
	})
}
