package longchat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/jsonl"
)

// turns is how long the chat becomes: LONGCHAT_TURNS, 100,000 with SOAK, else few.
func turns(t *testing.T) (n, window int, alone bool) {
	t.Helper()
	if text := os.Getenv("LONGCHAT_TURNS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("LONGCHAT_TURNS=%s is no number of turns", text)
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
	w := newWorld(t, dir, compact)
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
	if err != nil {
		t.Fatal(err)
	}
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
	if alone && compact && len(all) >= 10 {
		flat(t, all)
	}
}

// untilCompacted goes on until something was folded: the turns of a short chat may
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
			t.Fatal("for a minute nothing was folded")
		}
	}
}

// cost is what turns of a window cost on average.
type cost struct {
	turns           int // at its end
	heap            uint64
	mallocs, bytes  float64
	read, wrote     float64
	median, slowest time.Duration
	compactions     float64
	history         int64 // bytes of the file
}

func (c cost) String() string {
	return fmt.Sprintf("%7d turns: heap %6.2f MB, %6.0f allocations and %8.0f bytes a turn, read %7.0f and wrote %6.0f bytes a turn, "+
		"median %v, slowest %v, %.0f compactions, history %d bytes",
		c.turns, float64(c.heap)/1e6, c.mallocs, c.bytes, c.read, c.wrote, c.median.Round(time.Microsecond), c.slowest.Round(time.Microsecond),
		c.compactions, c.history)
}

func (w *world) window(t *testing.T, n int) cost {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	folded := w.compactions(t)
	read, wrote := processIO()
	took := make([]time.Duration, n)
	for i := range took {
		began := time.Now()
		w.turn(t)
		took[i] = time.Since(began)
	}
	readNow, wroteNow := processIO()
	runtime.GC()
	runtime.ReadMemStats(&after)
	slices.Sort(took)
	per := func(n uint64) float64 { return float64(n) / float64(len(took)) }
	c := cost{
		turns: w.turns, heap: after.HeapAlloc, mallocs: per(after.Mallocs - before.Mallocs), bytes: per(after.TotalAlloc - before.TotalAlloc),
		read: per(readNow - read), wrote: per(wroteNow - wrote), median: took[n/2], slowest: took[n-1], compactions: w.compactions(t) - folded,
	}
	if dir, err := w.store.ChatDir(key); err == nil {
		if info, err := os.Stat(filepath.Join(dir, "messages", "history.jsonl")); err == nil {
			c.history = info.Size()
		}
	}
	return c
}

// processIO is what the process read and wrote by system calls, where Linux tells.
func processIO() (read, wrote uint64) {
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0, 0
	}
	for line := range bytes.Lines(text) {
		var n uint64
		if _, err := fmt.Sscanf(string(line), "rchar: %d", &n); err == nil {
			read = n
		} else if _, err := fmt.Sscanf(string(line), "wchar: %d", &n); err == nil {
			wrote = n
		}
	}
	return read, wrote
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
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		var a persistence.Archive
		if err == nil {
			err = json.Unmarshal(b, &a)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range a.Lines {
			m, ok := jsonl.ParseTurn([]byte(line))
			if !ok {
				t.Fatalf("%s holds a line that is no turn", file)
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

// flat: the last tenth of a long chat costs what its second tenth did, within half.
func flat(t *testing.T, all []cost) {
	t.Helper()
	tenth := len(all) / 10
	sum := func(list []cost) (c cost) {
		for _, e := range list {
			c.heap += e.heap
			c.mallocs += e.mallocs
			c.wrote += e.wrote
		}
		return c
	}
	early, late := sum(all[tenth:2*tenth]), sum(all[len(all)-tenth:])
	if late.mallocs > 1.5*early.mallocs || late.wrote > 1.5*early.wrote || late.heap > early.heap+early.heap/2 {
		t.Errorf("a turn costs more the older the chat is: at first %+v, at last %+v", early, late)
	}
}
