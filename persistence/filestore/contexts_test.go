package filestore_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/filestoretest"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/storetest"
)

func contextOf(n int, list ...uimessage.Message) *journal.Context {
	var turns []journal.Turn
	for _, m := range list {
		turns = append(turns, journal.NewTurn(m))
	}
	c := journal.NewContext(messages.ContextSwitch{Kind: messages.ContextNew, ID: fmt.Sprintf("c_20260102_%04d", n)}, int64(n), turns)
	return &c
}

func ids(list []uimessage.Message) (out []string) {
	for _, m := range list {
		out = append(out, m.ID)
	}
	return out
}

// A power cut at any operation of a context switch leaves either the old history or the new one,
// complete. With the new one the previous context is archived completely and listed; repeating the
// switch gives the same result.
func TestContextSwitchPowerCut(t *testing.T) {
	limit := 24
	if soak() {
		limit = 1000
	}
	ctx := t.Context()
	old := []uimessage.Message{storetest.Turn(1), long(2, 6000), storetest.Turn(3), long(4, 3000)}
	back := contextOf(1, storetest.Turn(50), storetest.Reply(51))
	left := contextOf(2, old[:2]...)
	order := journal.Rewrite{At: crashAt(), To: 3, Insert: append(slices.Clone(back.Messages), old[2]), Context: left, Meta: metaOf("a")}
	want := append(slices.Clone(back.Messages), old[2:]...)

	disk := filestoretest.NewDisk()
	s, err := filestoretest.Open(disk, filestore.Options{})
	must(t, err)
	c, err := s.OpenChat(ctx, crashKey)
	must(t, err)
	must(t, c.AppendHistory(ctx, back.Messages...))
	must(t, c.Rewrite(ctx, journal.Rewrite{To: 2, Context: back}))
	must(t, c.AppendHistory(ctx, old...))
	states, news := 0, 0
	check := func(d *filestoretest.Disk, acknowledged bool) error {
		states++
		s, err := filestoretest.Open(d, filestore.Options{})
		must(t, err)
		c, err := s.OpenChat(ctx, crashKey)
		must(t, err)
		snap, err := c.Load(ctx)
		must(t, err)
		switch got := ids(snap.History); {
		case slices.Equal(got, ids(want)):
			news++
		case acknowledged || !slices.Equal(got, ids(old)):
			return fmt.Errorf("history %q", got)
		default:
			must(t, c.Rewrite(ctx, order))
			if snap, err = c.Load(ctx); err != nil || !slices.Equal(ids(snap.History), ids(want)) {
				return fmt.Errorf("again: history %q, %w", ids(snap.History), err)
			}
		}
		items, err := s.Contexts(ctx, crashKey)
		if diff := cmp.Diff([]journal.ContextItem{left.Item(12000), back.Item(12000)}, items); diff != "" || err != nil {
			return fmt.Errorf("contexts: %w, %s", err, diff)
		}
		for _, want := range []*journal.Context{left, back} {
			got, err := s.ReadContext(ctx, crashKey, want.ID)
			if diff := cmp.Diff(ids(want.Messages), ids(got.Messages)); diff != "" || err != nil {
				return fmt.Errorf("context %s: %w, %s", want.ID, err, diff)
			}
		}
		return nil
	}
	points := uint64(0)
	cut := func(where string, acknowledged bool) {
		points++
		for d := range disk.CrashStates(limit, points) {
			if err := check(d, acknowledged); err != nil {
				t.Fatalf("%s: %v\n%s", where, err, dump(t, d))
			}
		}
	}
	disk.After(func(op filestoretest.Op) {
		if op.Changes() {
			cut(fmt.Sprint(op), false)
		}
	})
	must(t, c.Rewrite(ctx, order))
	disk.After(nil)
	cut("behind it", true)
	t.Logf("%d states at %d points, %d of them new", states, points, news)
	if points < 10 || news == 0 || news == states {
		t.Errorf("%d states at %d points, %d of them new", states, points, news)
	}
}

// The index is a copy: if it is missing, damaged, of another version, or has an entry too few or
// too many, it is rebuilt from the contexts. A damaged context hides no other.
func TestContextIndexRebuilt(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, dir string) error{
		"lost": func(_ *testing.T, dir string) error { return os.Remove(filepath.Join(dir, "index.json")) },
		"damaged": func(_ *testing.T, dir string) error {
			return os.WriteFile(filepath.Join(dir, "index.json"), []byte(`{"v":1,"items":[{`), 0o600)
		},
		"another version": func(_ *testing.T, dir string) error {
			return os.WriteFile(filepath.Join(dir, "index.json"), []byte(`{"v":9,"items":[{"contextId":"c_20260102_0001"}]}`), 0o600)
		},
		"short": func(_ *testing.T, dir string) error {
			return os.WriteFile(filepath.Join(dir, "index.json"), []byte(`{"v":1,"items":[]}`), 0o600)
		},
		"one too many": func(_ *testing.T, dir string) error {
			return os.WriteFile(filepath.Join(dir, "index.json"), []byte(`{"v":1,"items":[{"contextId":"c_20260102_7777"}]}`), 0o600)
		},
		"beside damage": func(_ *testing.T, dir string) error {
			return os.WriteFile(filepath.Join(dir, "archive", "c_20260102_0009.json"), []byte(`{"v":1`), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := filestore.Open(filestore.Options{Dir: t.TempDir()})
			must(t, err)
			t.Cleanup(func() { must(t, s.Close()) })
			c, err := s.OpenChat(t.Context(), crashKey)
			must(t, err)
			first, second := contextOf(1, storetest.Turn(1)), contextOf(2, storetest.Turn(2))
			must(t, c.AppendHistory(t.Context(), storetest.Turns(1, 3)...))
			must(t, c.Rewrite(t.Context(), journal.Rewrite{To: 1, Context: first}))
			dir, err := s.ChatDir(crashKey)
			must(t, err)
			must(t, spoil(t, filepath.Join(dir, "contexts")))
			items, err := s.Contexts(t.Context(), crashKey)
			must(t, err)
			stdtest.Diff(t, "contexts", []journal.ContextItem{first.Item(12000)}, items)
			must(t, c.Rewrite(t.Context(), journal.Rewrite{To: 1, Context: second}))
			if items, err = s.Contexts(t.Context(), crashKey); err != nil || len(items) != 2 || items[0].ID != second.ID {
				t.Errorf("contexts after another one: %+v, %v", items, err)
			}
			if _, err := s.ReadContext(t.Context(), crashKey, "c_20260102_0009"); err == nil || name != "beside damage" && !errors.Is(err, persistence.ErrNotFound) {
				t.Errorf("a context that cannot be read came to %v", err)
			}
		})
	}
}
