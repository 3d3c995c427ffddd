package trust_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/cmd/internal/trust"
	"github.com/shipmyagent/shipmyagent/config"
)

func environment(vars map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		v, ok := vars[name]
		return v, ok
	}
}

// open finds the store for a folder, which it makes.
func open(t *testing.T, env map[string]string, folder string) *trust.Store {
	t.Helper()
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	s, err := trust.Open(environment(env), folder)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestStoreKeepsFoldersApart: each folder has a digest of its own, in one private file.
func TestStoreKeepsFoldersApart(t *testing.T) {
	root := t.TempDir()
	env := map[string]string{"XDG_STATE_HOME": filepath.Join(root, "state")}
	first, second := open(t, env, filepath.Join(root, "a")), open(t, env, filepath.Join(root, "b"))
	if err := errors.Join(first.Agree(strings.Repeat("1", 64)), second.Agree(strings.Repeat("2", 64)), first.Forget()); err != nil {
		t.Fatal(err)
	}
	for s, want := range map[*trust.Store]string{first: "", second: strings.Repeat("2", 64)} {
		if got, err := s.Digest(); err != nil || got != want {
			t.Errorf("got %q, %v; want %q", got, err, want)
		}
	}
	for path, want := range map[string]os.FileMode{"state/sma": 0o700, "state/sma/trust.json": 0o600} {
		if info, err := os.Stat(filepath.Join(root, path)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want %v", path, info, err, want)
		}
	}
	if left, err := filepath.Glob(filepath.Join(root, "state", "sma", ".trust-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

// TestStoreWants a place outside of the folder, by an absolute path.
func TestStoreWantsAPlaceOutside(t *testing.T) {
	root := t.TempDir()
	folder := filepath.Join(root, "bot")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
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
			_, err := trust.Open(environment(tt.env), folder)
			if ok := err == nil; ok != tt.ok || !ok && !errors.Is(err, trust.ErrNoPlace) {
				t.Errorf("got %v, want a place: %v", err, tt.ok)
			}
		})
	}
}

// TestCheckNamesTheReason: what is wrong with the store is part of the refusal.
func TestCheckNamesTheReason(t *testing.T) {
	root := t.TempDir()
	env := map[string]string{"XDG_STATE_HOME": root}
	folder := filepath.Join(root, "bot")
	reaches := []config.Reach{{Kind: config.ReachAddress, Key: "llm.baseUrl", Text: "https://models.example"}}
	s := open(t, env, folder)
	if err := s.Agree(config.Digest(reaches)); err != nil {
		t.Fatal(err)
	}
	if err := trust.Check(environment(env), folder, reaches); err != nil {
		t.Errorf("agreed to: %v", err)
	}
	if err := os.Chmod(filepath.Join(root, "sma", "trust.json"), 0o620); err != nil { //nolint:gosec // that is the fault
		t.Fatal(err)
	}
	err := trust.Check(environment(env), folder, reaches)
	if _, ok := errors.AsType[*config.UntrustedError](err); !ok || !strings.Contains(err.Error(), "chmod go-w") {
		t.Errorf("got %v", err)
	}
	if err := s.Agree(config.Digest(nil)); err == nil {
		t.Error("a store that others can change is written on")
	}
	if err := trust.Check(environment(nil), folder, nil); err != nil {
		t.Errorf("nothing to agree to: %v", err)
	}
	given := maps.Clone(env)
	given[trust.Variable] = config.Digest(reaches)
	if err := trust.Check(environment(given), folder, reaches); err != nil {
		t.Errorf("given by the variable: %v", err)
	}
	if err := trust.Check(environment(given), folder, slices.Concat(reaches, reaches)); err == nil {
		t.Error("another list has the same digest")
	}
}
