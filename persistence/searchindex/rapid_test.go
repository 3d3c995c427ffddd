package searchindex_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
	"github.com/shipmyagent/shipmyagent/persistence/searchindex"
)

// shelf is a folder with files as a store leaves them, and a plain model of their contents: ids
// with their texts.
type shelf struct {
	dir      string
	index    *searchindex.Index
	history  map[messages.ChatKey][]turn
	old      map[messages.ChatKey][]turn // archived
	archives int
	turns    int
}

type turn struct{ id, text string }

func (t turn) line() string {
	return string(uimessage.AppendJSON(nil, uimessage.Message{ID: t.id, Role: uimessage.RoleUser, Parts: []uimessage.Part{uimessage.Text{Text: t.text}}}))
}

func (s *shelf) chatDir(key messages.ChatKey) (string, error) {
	return filepath.Join(s.dir, "chat", string(key)), nil
}

func (s *shelf) open() {
	s.index = searchindex.New(searchindex.Options{
		File: filepath.Join(s.dir, "search.db"), ChatDir: s.chatDir, Parse: filestore.ParseTurn, Logger: slog.New(slog.DiscardHandler),
		Chats: func(context.Context) iter.Seq2[messages.ChatKey, error] { return nil },
	})
}

func (s *shelf) file(r *rapid.T, key messages.ChatKey, name string) string {
	dir, _ := s.chatDir(key)
	file := filepath.Join(dir, "messages", name)
	check(r, os.MkdirAll(filepath.Dir(file), 0o700))
	return file
}

// append adds lines to a history, some of them after spaces like the store does.
func (s *shelf) append(r *rapid.T, key messages.ChatKey, lines ...turn) {
	f, err := os.OpenFile(s.file(r, key, "history.jsonl"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	check(r, err)
	for i, l := range lines {
		_, err := f.WriteString(strings.Repeat(" ", min(i, 1)) + l.line() + "\n")
		check(r, err)
	}
	check(r, f.Close())
}

// archive moves the first n turns of a history into an archive.
func (s *shelf) archive(r *rapid.T, key messages.ChatKey, n int) {
	lines := []string{}
	for _, l := range s.history[key][:n] {
		lines = append(lines, l.line())
	}
	b, err := json.Marshal(map[string]any{"v": 1, "lines": lines})
	check(r, err)
	s.archives++
	check(r, os.WriteFile(s.file(r, key, "archive/"+strconv.Itoa(s.archives)+".json"), b, 0o600))
	s.old[key] = append(s.old[key], s.history[key][:n]...)
	s.history[key] = slices.Clone(s.history[key][n:])
	name := s.file(r, key, "history.jsonl")
	check(r, os.Rename(name, name+".old"))
	s.append(r, key, s.history[key]...)
}

func check(r *rapid.T, err error) {
	stdtest.Must(r, err)
}

// TestSearchFindsWhatAScanFinds: whatever is appended, replaced and archived in several chats, and
// whenever the index is closed or lost, a search finds the same turns as a scan of all turns.
func TestSearchFindsWhatAScanFinds(t *testing.T) {
	words := []string{"apple", "banana", "天气", "预报", "INV-7", "ö"}
	if os.Getenv("SOAK") == "" { // each check opens new files and waits for the disk
		old := flag.Lookup("rapid.checks").Value.String()
		stdtest.Must(t, flag.Set("rapid.checks", "4"))
		defer func() { _ = flag.Set("rapid.checks", old) }() // as it was
	}
	root, lives := t.TempDir(), 0
	rapid.Check(t, func(r *rapid.T) {
		lives++
		s := &shelf{dir: filepath.Join(root, strconv.Itoa(lives)), history: map[messages.ChatKey][]turn{}, old: map[messages.ChatKey][]turn{}}
		s.open()
		defer func() { check(r, s.index.Close()) }()
		chat := rapid.SampledFrom([]messages.ChatKey{"web-chat-a", "web-chat-b"})
		text := rapid.Custom(func(r *rapid.T) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 4).Draw(r, "words"), rapid.SampledFrom([]string{" ", ", ", "…"}).Draw(r, "sign"))
		})
		r.Repeat(map[string]func(*rapid.T){
			"append": func(r *rapid.T) {
				key := chat.Draw(r, "chat")
				var more []turn
				for range rapid.IntRange(1, 3).Draw(r, "n") {
					s.turns++
					more = append(more, turn{fmt.Sprintf("t%d", s.turns), text.Draw(r, "text")})
				}
				s.history[key] = append(s.history[key], more...)
				s.append(r, key, more...)
			},
			"replace": func(r *rapid.T) {
				key := chat.Draw(r, "chat")
				if h := s.history[key]; len(h) > 0 {
					i := rapid.IntRange(0, len(h)-1).Draw(r, "which")
					h[i].text = text.Draw(r, "text")
					s.append(r, key, h[i])
				}
			},
			"archive": func(r *rapid.T) {
				key := chat.Draw(r, "chat")
				if h := s.history[key]; len(h) > 0 {
					s.archive(r, key, rapid.IntRange(1, len(h)).Draw(r, "n"))
				}
			},
			"reopen": func(r *rapid.T) {
				check(r, s.index.Close())
				if rapid.Bool().Draw(r, "lost") {
					check(r, os.RemoveAll(filepath.Join(s.dir, "search.db")))
				}
				s.open()
			},
			"": func(r *rapid.T) { s.compare(r, chat.Draw(r, "chat"), rapid.SampledFrom(words).Draw(r, "word")) },
		})
	})
}

func (s *shelf) compare(r *rapid.T, key messages.ChatKey, word string) {
	var want, got []string
	for _, l := range slices.Concat(s.old[key], s.history[key]) {
		if strings.Contains(l.text, word) {
			want = append(want, l.id)
		}
	}
	hits, err := s.index.Search(context.Background(), key, persistence.Search{Text: word, Limit: 100})
	check(r, err)
	for _, h := range hits {
		got = append(got, h.Message.ID)
	}
	slices.Sort(want)
	slices.Sort(got)
	if len(want) > 100 {
		return // more than a search returns
	}
	if diff := cmp.Diff(want, got); diff != "" {
		r.Fatalf("search %q in %s (-want +got):\n%s", word, key, diff)
	}
}
