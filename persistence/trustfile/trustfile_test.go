package trustfile_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence/trustfile"
)

func environment(vars map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		v, ok := vars[name]
		return v, ok
	}
}

// open finds the store for a folder, which it makes.
func open(t *testing.T, env map[string]string, folder string) *trustfile.Store {
	t.Helper()
	stdtest.Must(t, os.MkdirAll(folder, 0o700))
	s, err := trustfile.Open(environment(env), folder)
	stdtest.Must(t, err)
	return s
}

// TestStoreKeepsFoldersApart: each folder has a digest of its own, in one private file.
func TestStoreKeepsFoldersApart(t *testing.T) {
	root := t.TempDir()
	env := map[string]string{"XDG_STATE_HOME": filepath.Join(root, "state")}
	first, second := open(t, env, filepath.Join(root, "a")), open(t, env, filepath.Join(root, "b"))
	stdtest.Must(t, errors.Join(first.Agree(strings.Repeat("1", 64)), second.Agree(strings.Repeat("2", 64)), first.Forget()))
	for s, want := range map[*trustfile.Store]string{first: "", second: strings.Repeat("2", 64)} {
		if got, err := s.Digest(); err != nil || got != want {
			t.Errorf("got %q, %v; want %q", got, err, want)
		}
	}
	for path, want := range map[string]os.FileMode{"state/sma": 0o700, "state/sma/trust.json": 0o600} {
		if info, err := os.Stat(filepath.Join(root, path)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want %v", path, info, err, want)
		}
	}
	if left, err := filepath.Glob(filepath.Join(root, "state", "sma", "*")); err != nil || len(left) != 2 { // and the lock
		t.Errorf("left behind: %q, %v", left, err)
	}
}

// TestStoreOfManyProcesses: what is agreed to for several folders at the same time is all kept.
func TestStoreOfManyProcesses(t *testing.T) {
	root := t.TempDir()
	env := map[string]string{"XDG_STATE_HOME": filepath.Join(root, "state")}
	var all sync.WaitGroup
	var stores []*trustfile.Store
	for n := range 16 {
		s := open(t, env, filepath.Join(root, strconv.Itoa(n)))
		stores = append(stores, s)
		all.Go(func() {
			if err := s.Agree(strings.Repeat("1", 64)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for n, s := range stores {
		if digest, err := s.Digest(); err != nil || digest == "" {
			t.Errorf("folder %d: %q, %v", n, digest, err)
		}
	}
}

// TestStoreWants a place outside of the folder, by an absolute path.
func TestStoreWantsAPlaceOutside(t *testing.T) {
	root := t.TempDir()
	folder := filepath.Join(root, "bot")
	stdtest.Must(t, os.MkdirAll(folder, 0o700))
	for name, tt := range map[string]struct {
		env map[string]string
		ok  bool
	}{
		"nothing":             {nil, false},
		"a home":              {map[string]string{"HOME": filepath.Join(root, "home")}, true},
		"the folder as home":  {map[string]string{"HOME": folder}, false},
		"a home in it":        {map[string]string{"HOME": filepath.Join(folder, "deep", "home")}, false},
		"a relative place":    {map[string]string{"XDG_STATE_HOME": "state"}, false},
		"relative, and home":  {map[string]string{"XDG_STATE_HOME": "state", "HOME": root}, true},
		"state wins":          {map[string]string{"XDG_STATE_HOME": folder, "HOME": root}, false},
		"detours into it":     {map[string]string{"XDG_STATE_HOME": filepath.Join(root, "x") + "/../bot/state"}, false},
		"a name that is like": {map[string]string{"XDG_STATE_HOME": folder + "-state"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := trustfile.Open(environment(tt.env), folder)
			if ok := err == nil; ok != tt.ok || !ok && !errors.Is(err, trustfile.ErrNoStateDir) {
				t.Errorf("got %v, want a place: %v", err, tt.ok)
			}
		})
	}
}

// TestAgreedNamesTheReason: what is wrong with the store is told with the refusal.
func TestAgreedNamesTheReason(t *testing.T) {
	root := t.TempDir()
	env := map[string]string{"XDG_STATE_HOME": root}
	folder, digest := filepath.Join(root, "bot"), strings.Repeat("3", 64)
	s := open(t, env, folder)
	stdtest.Must(t, s.Agree(digest))
	if ok, err := trustfile.Agreed(environment(env), folder, digest); !ok || err != nil {
		t.Errorf("agreed to: %v, %v", ok, err)
	}
	stdtest.Must(t, os.Chmod(filepath.Join(root, "sma", "trust.json"), 0o620)) //nolint:gosec // that is the fault
	if ok, err := trustfile.Agreed(environment(env), folder, digest); ok || err == nil || !strings.Contains(err.Error(), "chmod go-w") {
		t.Errorf("a store that others can change: %v, %v", ok, err)
	}
	if err := s.Agree(digest); err == nil {
		t.Error("a store that others can change is written on")
	}
	given := maps.Clone(env)
	given[trustfile.Variable] = digest
	if ok, err := trustfile.Agreed(environment(given), folder, digest); !ok || err != nil {
		t.Errorf("given by the variable: %v, %v", ok, err)
	}
	given[trustfile.Variable] = digest[:63]
	if ok, _ := trustfile.Agreed(environment(given), folder, digest); ok {
		t.Error("a part of the digest is enough")
	}
	if ok, err := trustfile.Agreed(environment(nil), folder, digest); ok || err != nil {
		t.Errorf("a machine without a place: %v, %v", ok, err)
	}
}
