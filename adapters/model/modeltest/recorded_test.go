package modeltest

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// These requests are the examples of OpenAI's OpenAPI document (MIT licence, see testdata/recorded),
// so the rules must accept them. Only the role developer is changed: few other services know it (S2).
func TestRecordedRequestsAreAccepted(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "recorded", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no requests: %v", err)
	}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		body = bytes.ReplaceAll(body, []byte(`"role": "developer"`), []byte(`"role": "system"`))
		if err := StrictBody(body); err != nil {
			t.Errorf("%s: %v", filepath.Base(file), err)
		}
	}
}
