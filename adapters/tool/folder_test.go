package tool_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func TestMakeFolderFollowsNoLinks(t *testing.T) {
	elsewhere := t.TempDir()
	for _, link := range []string{"", "a", "a/b", "a/b/c"} {
		root := filepath.Join(t.TempDir(), "above", "root")
		at := filepath.Join(root, link)
		stdtest.Must(t, errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.Symlink(elsewhere, at)))
		if err := tool.MakeFolder(root, "a/b/c"); !errors.Is(err, tool.ErrLink) {
			t.Errorf("%q: %v", link, err)
		}
	}
	if left, err := os.ReadDir(elsewhere); err != nil || len(left) > 0 {
		t.Errorf("made elsewhere: %v, %v", left, err)
	}
	root := filepath.Join(t.TempDir(), "above", "root")
	for range 2 {
		if err := tool.MakeFolder(root, "a/b/c"); err != nil {
			t.Error(err)
		}
	}
	if info, err := os.Lstat(filepath.Join(root, "a/b/c")); err != nil || !info.IsDir() || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	if tool.MakeFolder(root, "../x") == nil {
		t.Error("a folder was made elsewhere")
	}
}
