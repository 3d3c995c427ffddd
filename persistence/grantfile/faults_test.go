package grantfile

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence/document"
	"github.com/shipmyagent/shipmyagent/persistence/document/documenttest"
	"github.com/shipmyagent/shipmyagent/persistence/permission"
)

func TestST19EveryStepOfAGrantFails(t *testing.T) {
	save := func(id string) func(document.Disk, string) error {
		return func(disk document.Disk, state string) error {
			s := New(filepath.Join(state, "approvals", "grants"), name)
			s.disk = disk
			return s.SaveGrants(t.Context(), alice, []permission.Grant{{ID: id}})
		}
	}
	look := func(state string) (string, error) {
		list, err := New(filepath.Join(state, "approvals", "grants"), name).Grants(t.Context(), alice)
		if len(list) == 0 {
			return "", err
		}
		return list[0].ID, err
	}
	documenttest.EachChange(t, documenttest.Case{Prepare: save("1"), Change: save("2"), Look: look, Old: "1", New: "2"}, "")
}

// The file of a long key lies in folders below: its grants are listed and taken back
// like all others.
func TestGrantsOfALongKey(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "grants")
	nested := func(key messages.ChatKey) (string, error) {
		if len(key) > 200 {
			return string(key[:200]) + "~/" + string(key[200:]), nil
		}
		return string(key), nil
	}
	long := messages.ChatKey("web-chat-" + strings.Repeat("x", 250))
	s := New(dir, nested)
	var r documenttest.Recorder
	s.disk = r.Disk()
	for _, key := range []messages.ChatKey{alice, long} {
		stdtest.Must(t, s.SaveGrants(t.Context(), key, []permission.Grant{{ID: "1"}}))
	}
	keys, err := s.Chats(t.Context())
	if slices.Sort(keys); err != nil || !slices.Equal(keys, []messages.ChatKey{alice, long}) {
		t.Errorf("chats: %v, %v", keys, err)
	}
	r.Fsynced(t, dir, filepath.Join(dir, string(long[:200])+"~"))
}
