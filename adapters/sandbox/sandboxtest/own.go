//go:build linux

package sandboxtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/sandbox"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// Own tests a program's own folders inside of hidden ones, and a working folder that only contains visible ones.
func Own(t *testing.T, s sandbox.Sandbox) {
	t.Helper()
	w := newWorld(t)
	w.write(t, "work/.ship/secret", "canary")
	w.write(t, "work/.ship/home/other/secret", "canary")
	w.write(t, "work/.ship/home/me/notes", "mine")
	mine := filepath.Join(w.work, ".ship/home/me")
	const text = "cat .ship/home/me/notes; echo new > .ship/home/me/new; ls .ship .ship/home; cat .ship/secret .ship/home/other/secret; echo x > .ship/x; mv .ship/home/me .ship/home/you; mv .ship old"
	for name, granted := range map[string]func(*sandbox.Spec){
		"in a folder that it may write":       func(*sandbox.Spec) {},
		"in a folder that it may read":        func(s *sandbox.Spec) { s.Readable, s.Writable = s.Writable, nil },
		"in a folder that it sees nothing of": func(s *sandbox.Spec) { s.Writable = nil },
	} {
		spec := w.shell(text)
		spec.Hidden, spec.Own = []string{filepath.Join(w.work, ".ship")}, []string{mine}
		granted(&spec)
		r := run(t, s, spec)
		if r.failed != nil || !strings.HasPrefix(r.out, "mine") || !strings.Contains(r.out, "home\n") || !strings.HasSuffix(r.out, "me\n") || strings.Contains(r.out, "other") {
			t.Errorf("%s: %q, %q, %v", name, r.out, r.err, r.failed)
		}
		if data, err := os.ReadFile(filepath.Join(mine, "new")); err != nil || string(data) != "new\n" {
			t.Errorf("%s: what it wrote = %q, %v", name, data, err)
		}
		for _, path := range []string{"work/.ship/x", "work/.ship/home/you", "work/old"} {
			if _, err := os.Lstat(filepath.Join(w.dir, path)); err == nil {
				t.Errorf("%s: it made %s", name, path)
			}
		}
	}
	stdtest.Must(t, os.Symlink(w.dir, filepath.Join(mine, "out")))
	for path, want := range map[string]string{
		filepath.Join(mine, "out/work"): "own folder", "/proc": "own folder", filepath.Join(mine, "absent"): "no such file", filepath.Join(mine, "notes"): "is a file",
	} {
		spec := w.shell("true")
		spec.Own = []string{path}
		p, err := s.Start(t.Context(), spec)
		if err == nil {
			p.Kill()
			_, _ = p.Wait()
			t.Errorf("%s: it was started", path)
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	spec := w.shell("ls -A")
	spec.Readable, spec.Writable = []string{w.write(t, "sub/a", ""), "/usr/bin/awk", "/bin/sh"}, nil // includes links of the system
	spec.Dir = w.dir
	if got := must(t, s, spec); got != "sub\n" {
		t.Errorf("a folder around what it may see shows %q", got)
	}
}
