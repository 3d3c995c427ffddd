package anthropictest

import (
	"os"
	"path/filepath"
	"testing"
)

// The service accepted these requests, which the tests of the official SDK have recorded (MIT
// licence, see testdata/recorded), so the rules must accept them.
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
		if err := StrictBody(body); err != nil {
			t.Errorf("%s: %v", filepath.Base(file), err)
		}
	}
}
