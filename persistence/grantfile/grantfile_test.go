package grantfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence/permission"
)

const alice = messages.ChatKey("telegram-chat-1")

func name(key messages.ChatKey) (string, error) { return string(key), nil }

func TestGrantsAreKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "approvals", "grants")
	ctx := t.Context()
	if got, err := New(dir, name).Grants(ctx, alice); err != nil || got != nil {
		t.Errorf("before the first: %v, %v", got, err)
	}
	want := []permission.Grant{
		{ID: "1", Person: "telegram-7", Folder: ".", Rule: "git status", From: 1, Until: 2, Boot: "b", Up: 3},
		{ID: "2", Rule: "bash build.sh", Binds: []string{"abc"}, From: 4},
	}
	stdtest.Must(t, New(dir, name).SaveGrants(ctx, alice, want[:1]))
	stdtest.Must(t, New(dir, name).SaveGrants(ctx, alice, want))
	got, err := New(dir, name).Grants(ctx, alice)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if got, err := New(dir, name).Grants(ctx, "telegram-chat-2"); err != nil || got != nil {
		t.Errorf("another chat has %v, %v", got, err)
	}
	stdtest.Must(t, New(dir, name).SaveGrants(ctx, "telegram-chat-3", nil))
	if keys, err := New(dir, name).Chats(ctx); err != nil || !slices.Equal(keys, []messages.ChatKey{alice, "telegram-chat-3"}) {
		t.Errorf("chats with grants: %v, %v", keys, err)
	}
	if keys, err := New(filepath.Join(dir, "none"), name).Chats(ctx); err != nil || keys != nil {
		t.Errorf("of no folder: %v, %v", keys, err)
	}
	for path, want := range map[string]fs.FileMode{dir: 0o700, filepath.Join(dir, "telegram-chat-1.json"): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}

// What cannot be read whole allows nothing.
func TestDamagedGrantsAreNone(t *testing.T) {
	dir := t.TempDir()
	for what, text := range map[string]string{
		"half a file":         `{"v":1,"chatKey":"telegram-chat-1","grants":[{"id":"1","rule":"ls *"`,
		"of another chat":     `{"v":1,"chatKey":"telegram-chat-2","grants":[{"id":"1","rule":"ls *","from":1}]}`,
		"of a newer version":  `{"v":2,"chatKey":"telegram-chat-1","grants":[]}`,
		"with unknown limits": `{"v":1,"chatKey":"telegram-chat-1","grants":[{"id":"1","rule":"ls *","from":1,"network":false}]}`,
		"empty":               ``,
	} {
		stdtest.Must(t, os.WriteFile(filepath.Join(dir, "telegram-chat-1.json"), []byte(text), 0o600))
		if got, err := New(dir, name).Grants(t.Context(), alice); err == nil || got != nil {
			t.Errorf("%s: %v, %v", what, got, err)
		}
	}
	for what, text := range map[string]string{"half a file": `{"v":1,"chatKey":`, "called otherwise": `{"v":1,"chatKey":"telegram-chat-2","grants":[]}`} {
		stdtest.Must(t, os.WriteFile(filepath.Join(dir, "telegram-chat-1.json"), []byte(text), 0o600))
		stdtest.Must(t, New(dir, name).SaveGrants(t.Context(), "telegram-chat-3", nil))
		if keys, err := New(dir, name).Chats(t.Context()); err == nil || !slices.Equal(keys, []messages.ChatKey{"telegram-chat-3"}) {
			t.Errorf("%s: chats with grants: %v, %v", what, keys, err)
		}
	}
}

// Grants that cannot be read, for example after an edit by hand, are not lost with the next grant. They are deleted with
// their chat.
func TestUnreadableGrantsAreKept(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "telegram-chat-1.json")
	const typo = `{"v":1,"chatKey":"telegram-chat-1","grants":[{"id":"1","rule":"ls *","from":1},]}`
	stdtest.Must(t, os.WriteFile(path, []byte(typo), 0o600))
	s := New(dir, name)
	for range 2 {
		stdtest.Must(t, s.SaveGrants(t.Context(), alice, []permission.Grant{{ID: "2"}}))
	}
	found, err := filepath.Glob(path + unreadable + "*")
	if err != nil || len(found) != 1 {
		t.Fatalf("kept: %q, %v", found, err)
	}
	if raw, err := os.ReadFile(found[0]); err != nil || string(raw) != typo {
		t.Errorf("kept as %q, %v", raw, err)
	}
	if got, err := s.Grants(t.Context(), alice); err != nil || len(got) != 1 || got[0].ID != "2" {
		t.Errorf("grants: %v, %v", got, err)
	}
	if keys, err := s.Chats(t.Context()); err != nil || !slices.Equal(keys, []messages.ChatKey{alice}) {
		t.Errorf("chats: %v, %v", keys, err)
	}
	stdtest.Must(t, s.ForgetGrants(t.Context(), alice))
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
