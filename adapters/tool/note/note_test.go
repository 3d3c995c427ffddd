package note_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/adapters/tool/note"
	"github.com/shipmyagent/shipmyagent/adapters/tool/tooltest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func newNote(t *testing.T) (n *note.Note, file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "notes.md")
	return note.New(file, time.UTC), file
}

func at(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	tooltest.At(t, time.Date(2026, 7, 1, 22, 30, 0, 0, time.UTC), test)
}

func TestNote(t *testing.T) {
	tests := []struct {
		name, input, want, written string
		wantErr                    error
	}{
		{"a line", `{"text":"Buy milk."}`, `{"file":"notes.md","written":"Buy milk."}`, "- 2026-07-01 22:30 Buy milk.\n", nil},
		{"several lines", `{"text":" a\n- b\u0000\tc "}`, `{"file":"notes.md","written":"a - b c"}`, "- 2026-07-01 22:30 a - b c\n", nil},
		{"Chinese", `{"text":"买牛奶"}`, `{"file":"notes.md","written":"买牛奶"}`, "- 2026-07-01 22:30 买牛奶\n", nil},
		{"nothing", `{"text":"   "}`, "", "", tool.ErrInput},
		{"no text", `{}`, "", "", tool.ErrInput},
		{"too long", `{"text":"` + strings.Repeat("x", 501) + `"}`, "", "", tool.ErrInput},
		{"another member", `{"text":"a","file":"/etc/passwd"}`, "", "", tool.ErrInput},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n, file := newNote(t)
			set, err := tool.NewSet(n)
			stdtest.Must(t, err)
			err = set.Validate(note.Name, json.RawMessage(tt.input))
			var r tool.Result
			if err == nil {
				at(t, func(t *testing.T) {
					t.Helper()
					r, err = n.Invoke(t.Context(), tool.Call{Input: json.RawMessage(tt.input)})
				})
			}
			if !errors.Is(err, tt.wantErr) || string(r.Output) != tt.want {
				t.Errorf("got %s, %v; want %s, %v", r.Output, err, tt.want, tt.wantErr)
			}
			if got, _ := os.ReadFile(file); string(got) != tt.written {
				t.Errorf("the file holds %q, want %q", got, tt.written)
			}
		})
	}
	n, _ := newNote(t)
	if s := n.Spec(); !s.Asks || s.Repeatable || s.ReadOnly {
		t.Errorf("spec = %+v, want a tool that asks and is not repeated", s)
	}
}

func TestNotesTogether(t *testing.T) {
	n, file := newNote(t)
	at(t, func(t *testing.T) {
		t.Helper()
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if _, err := n.Invoke(t.Context(), tool.Call{Input: json.RawMessage(`{"text":"one more"}`)}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	})
	got, err := os.ReadFile(file)
	if err != nil || strings.Count(string(got), "- 2026-07-01 22:30 one more\n") != 20 {
		t.Errorf("the file holds %q, %v", got, err)
	}
}

func TestNoteThatCannotBeWritten(t *testing.T) {
	call := tool.Call{Input: json.RawMessage(`{"text":"a"}`)}
	if _, err := note.New(t.TempDir(), time.UTC).Invoke(t.Context(), call); err == nil {
		t.Error("a folder took a note")
	}
	n, file := newNote(t)
	stdtest.Must(t, os.WriteFile(file, make([]byte, 1<<20), 0o600))
	if _, err := n.Invoke(t.Context(), call); err == nil || !strings.Contains(err.Error(), "full") {
		t.Errorf("a full file: %v", err)
	}
}
