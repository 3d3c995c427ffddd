package longchat

import (
	"context"
	"encoding/json"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// turns is how long the chat becomes: LONGCHAT_TURNS, 100,000 with SOAK, else few.
func turns(t *testing.T) (n, window int, alone bool) {
	t.Helper()
	if text := os.Getenv("LONGCHAT_TURNS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("LONGCHAT_TURNS=%s is not a number of turns", text)
		}
		return n, max(1, min(1000, n/4)), true
	}
	if os.Getenv("SOAK") != "" {
		return 100_000, 1000, true
	}
	return plainTurns, plainTurns / 4, false
}

// plainTurns are enough for several compactions.
const plainTurns = 240

// TestLongChat: one chat, very many turns. With LONGCHAT_COMPACTION=off it only
// grows, which shows what compaction is for.
func TestLongChat(t *testing.T) {
	n, window, alone := turns(t)
	compact := os.Getenv("LONGCHAT_COMPACTION") != "off"
	dir := t.TempDir()
	var sums model.Model
	if compact {
		sums = talker{}
	}
	w := newWorld(t, dir, sums)
	if alone {
		fillNames(w.system)
	}
	var all []cost
	for w.turns < n {
		all = append(all, w.window(t, min(window, n-w.turns)))
		t.Log(all[len(all)-1])
	}
	if compact {
		w.untilCompacted(t)
		n = w.turns
	}
	view, err := w.port.History(t.Context(), key)
	stdtest.Must(t, err)
	if c := view.Counts; c.Accepted != int64(n) || c.Open != 0 || c.Fates["answered"] != int64(n) {
		t.Errorf("after %d turns: %+v", n, c)
	}
	if w.sink.n != n {
		t.Errorf("%d answers to %d turns", w.sink.n, n)
	}
	if held := len(view.Messages); compact && (held >= 2*n || alone && held > 400) {
		t.Errorf("the history holds %d turns after %v compactions", held, w.compactions(t))
	}
	conserved(t, view.Messages, filepath.Join(dir, "chat", string(key), "messages", "archive"), n)
	t.Log(compactions(t, w, all))
	if alone && compact {
		flat(t, all)
	}
}

// silent is a model that never answers.
type silent struct{ asked, ended atomic.Int64 }

func (s *silent) Stream(ctx context.Context, _ model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		s.asked.Add(1)
		<-ctx.Done()
		s.ended.Add(1)
		yield(model.Event{}, context.Cause(ctx))
	}
}

// TestNoTurnWaitsForASummary: a summary is asked for and never comes. Every turn
// that comes meanwhile is answered, and each is there once.
func TestNoTurnWaitsForASummary(t *testing.T) {
	dir := t.TempDir()
	never := &silent{}
	w := newWorld(t, dir, never)
	late := time.NewTimer(time.Minute)
	defer late.Stop()
	for never.asked.Load() == 0 {
		w.turn(t)
		select {
		case <-late.C:
			t.Fatal("for a minute no summary was asked for")
		default:
		}
	}
	before := w.turns
	for range plainTurns {
		w.turn(t)
	}
	if never.asked.Load() != 1 || never.ended.Load() != 0 {
		t.Fatalf("%d summaries were asked for and %d given up, want one that is still waited for", never.asked.Load(), never.ended.Load())
	}
	t.Logf("%d turns before the summary was asked for, %d answered while it does not come", before, w.turns-before)
	view, err := w.port.History(t.Context(), key)
	stdtest.Must(t, err)
	if c := view.Counts; c.Accepted != int64(w.turns) || c.Open != 0 || w.sink.n != w.turns {
		t.Errorf("after %d turns: %+v, %d answers", w.turns, c, w.sink.n)
	}
	conserved(t, view.Messages, filepath.Join(dir, "chat", string(key), "messages", "archive"), w.turns)
}

// untilCompacted continues until something was compacted: the turns of a short chat may
// all be there before the tables of the tokenizer are.
func (w *world) untilCompacted(t *testing.T) {
	t.Helper()
	late := time.NewTimer(time.Minute)
	defer late.Stop()
	pause := time.NewTicker(10 * time.Millisecond)
	defer pause.Stop()
	for w.compactions(t) == 0 {
		select {
		case <-pause.C:
			w.turn(t)
		case <-late.C:
			t.Fatal("for a minute nothing was compacted")
		}
	}
}

// conserved: history and archives hold every turn of the user once.
func conserved(t *testing.T, history []uimessage.Message, archives string, n int) {
	t.Helper()
	seen := map[string]int{}
	count := func(m uimessage.Message) {
		if m.Role == uimessage.RoleUser {
			seen[m.ID]++
		}
	}
	for _, m := range history {
		count(m)
	}
	files, err := filepath.Glob(filepath.Join(archives, "*.json"))
	stdtest.Must(t, err)
	for _, file := range files {
		b, err := os.ReadFile(file)
		var a journal.Archive
		if err == nil {
			err = json.Unmarshal(b, &a)
		}
		stdtest.Must(t, err)
		for _, line := range a.Lines {
			m, ok := filestore.ParseTurn([]byte(line))
			if !ok {
				t.Fatalf("%s holds a line that is not a turn", file)
			}
			count(m)
		}
	}
	if len(seen) != n {
		t.Errorf("history and %d archives hold %d of %d turns", len(files), len(seen), n)
	}
	for id, times := range seen {
		if times != 1 {
			t.Errorf("%s is there %d times", id, times)
		}
	}
}
