package modeltest

import (
	"path/filepath"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// Recorded checks every request in the folder testdata/recorded of the calling package.
func Recorded(t *testing.T, check func(body []byte) error) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "recorded", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no requests: %v", err)
	}
	for _, file := range files {
		body := stdtest.Read(t, file)
		if err := check(body); err != nil {
			t.Errorf("%s: %v", filepath.Base(file), err)
		}
	}
}
