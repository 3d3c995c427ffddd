package webconsole_test

import (
	"io/fs"
	"os"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// The page has no build step and serves a phone on a bad line, so all of it with both languages stays small.
func TestPageIsSmall(t *testing.T) {
	const most = 120_000
	var all int64
	stdtest.Must(t, fs.WalkDir(os.DirFS("static"), ".", func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			all += info.Size()
		}
		return err
	}))
	if all == 0 || all >= most {
		t.Errorf("the page has %d bytes, want less than %d", all, most)
	}
}
