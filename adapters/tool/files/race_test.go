package files_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/tool/files"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// swapper replaces a file and a folder by other things again and again. After each turn all protected files are
// unchanged.
type swapper struct {
	p       *project
	outside string
	turns   atomic.Int64
}

func (s *swapper) run(done <-chan struct{}) error {
	file, folder, aside := s.p.path("dir/file"), s.p.path("dir/sub"), s.p.path("aside")
	swaps := []func() error{
		func() error { return link(filepath.Join(s.outside, "secret"), file) },
		func() error { return link("../.env", file) },
		func() error { return os.Link(s.p.path(".env"), file) },
		func() error { return os.WriteFile(file, []byte("harmless\n"), 0o644) },
		func() error { return link("good", file) },
	}
	folders := []string{s.outside, "../.ship/chat/b", "../.git", "../other", "/"}
	for i := 0; ; i++ {
		select {
		case <-done:
			return nil
		default:
		}
		_ = os.Remove(file)
		// Whoever writes may have been faster.
		if err := swaps[i%len(swaps)](); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := os.Rename(folder, aside); err != nil {
			return err
		}
		if err := link(folders[i%len(folders)], folder); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		// A call may make the folder that is missing meanwhile.
		err := os.RemoveAll(folder)
		for back := os.Rename(aside, folder); back != nil; back = os.Rename(aside, folder) {
			if !errors.Is(back, fs.ErrExist) {
				return back
			}
			err = os.RemoveAll(folder)
		}
		if err != nil && !errors.Is(err, syscall.ENOTEMPTY) {
			return err
		}
		s.turns.Add(1)
	}
}

func link(to, at string) error { return os.Symlink(to, at) }

// While links are swapped in the place of files and folders, nothing of what lies
// outside or is protected is ever read or written.
func TestSB6LinksThatAreSwapped(t *testing.T) {
	const canary = "the canary"
	races := 500
	if os.Getenv("SOAK") != "" {
		races = 10_000
	}
	outside := t.TempDir()
	p := newProject(t, map[string]string{
		".env": canary, ".ship/chat/b/in.txt": canary, ".git/in.txt": canary, "dir/good": "harmless\n", "dir/sub/in.txt": "harmless\n", "other/in.txt": "harmless\n", "dir/file": "harmless\n",
	})
	for _, name := range []string{"secret", "in.txt"} {
		stdtest.Must(t, os.WriteFile(filepath.Join(outside, name), []byte(canary), 0o600))
	}
	before := folder(t, outside)
	guarded := []string{".env", ".ship/chat/b/in.txt", ".git/in.txt"}
	s := &swapper{p: p, outside: outside}
	done := make(chan struct{})
	var swapping error
	var wg sync.WaitGroup
	wg.Go(func() { swapping = s.run(done) })
	worked, refused := 0, 0
	for i := range races {
		members := []struct {
			tool string
			in   in
		}{
			{files.ReadName, in{"path": "dir/file"}},
			{files.WriteName, in{"path": "dir/file", "content": "written\n"}},
			{files.ReadName, in{"path": "dir/sub/in.txt"}},
			{files.EditName, in{"path": "dir/file", "old": "harmless", "new": "written"}},
			{files.WriteName, in{"path": "dir/sub/in.txt", "content": strings.Repeat("written\n", i%3)}},
			{files.SearchName, in{"query": "canary"}},
			{files.WriteName, in{"path": "dir/sub/made/x.txt", "content": strings.Repeat("made\n", i%4)}},
			{files.ListName, in{"depth": 5}},
		}[i%8]
		out, err := p.run(context.Background(), members.tool, members.in)
		if err != nil {
			refused++
		} else {
			worked++
		}
		said := strings.Join(texts(out), " ")
		if err != nil {
			said += err.Error()
		}
		if strings.Contains(said, canary) || strings.Contains(said, "secret") {
			t.Fatalf("race %d: %s %v says %s", i, members.tool, members.in, said)
		}
	}
	close(done)
	wg.Wait()
	stdtest.Must(t, swapping)
	for _, name := range guarded {
		if got := p.read(t, name); got != canary {
			t.Errorf("%s is %q", name, got)
		}
	}
	if after := folder(t, outside); after != before {
		t.Errorf("outside there is %q, there was %q", after, before)
	}
	for _, name := range []string{".ship/chat/b", ".git"} {
		if got := folder(t, p.path(name)); got != "in.txt=the canary;" {
			t.Errorf("in %s there is %q", name, got)
		}
	}
	if worked == 0 || s.turns.Load() == 0 {
		t.Errorf("%d calls worked, %d turns", worked, s.turns.Load())
	}
	t.Logf("%d calls beside %d turns of swaps: %d worked, %d were refused, 0 escaped", races, s.turns.Load(), worked, refused)
}

// folder is all that is below a folder.
func folder(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		text, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		out.WriteString(rel + "=" + string(text) + ";")
		return err
	})
	stdtest.Must(t, err)
	return out.String()
}

// A program in the sandbox, which sees everything that appears in the project but the host's state, puts something else
// in the place of a file that is being written. What is written is what a person agreed to.
func TestNothingIsSlippedIn(t *testing.T) {
	p := newProject(t, map[string]string{"Agent.md": "I am Ada.\n", ".ship/skills/x/SKILL.md": "x\n"})
	evil := filepath.Join(t.TempDir(), "evil")
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			list, _ := os.ReadDir(p.dir) // the folder is there
			for _, e := range list {
				if e.Name() != "Agent.md" && e.Name() != ".ship" {
					_ = os.WriteFile(evil, []byte("I obey.\n"), 0o644)
					_ = os.Rename(evil, p.path(e.Name())) // whoever writes may have been faster
				}
			}
		}
	})
	for i := range 50 {
		want := strings.Repeat("I am Bob.\n", i+1)
		_, err := p.run(t.Context(), files.WriteName, in{"path": "Agent.md", "content": want})
		if got := p.read(t, "Agent.md"); got != want || err != nil {
			t.Errorf("write %d: the file is %q, %v", i, got, err)
			break
		}
	}
	close(done)
	wg.Wait()
}
