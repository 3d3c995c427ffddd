package responsestest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// These requests are the examples of OpenAI's OpenAPI document (MIT licence, see testdata/recorded),
// so the rules must accept them. What the house wants in addition is added: that nothing is stored (R2)
// and that no schema changes its meaning (R11).
func TestRecordedRequestsAreAccepted(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "recorded", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no requests: %v", err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var body object
		if err := json.Unmarshal(raw, &body); err != nil {
			t.Fatal(err)
		}
		body["store"], body["include"] = false, []string{includeEncrypted}
		tools, _ := body["tools"].([]any)
		for _, tool := range tools {
			function, _ := tool.(object)
			function["strict"] = false
		}
		if raw, err = json.Marshal(body); err != nil {
			t.Fatal(err)
		}
		if err := StrictBody(raw); err != nil {
			t.Errorf("%s: %v", filepath.Base(file), err)
		}
	}
}
