package searchindex_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/searchindex"
)

type world struct {
	t     testing.TB
	store *filestore.Store
	index *searchindex.Index
	file  string
	chats map[messages.ChatKey]persistence.Chat
	seq   int64
}

func newWorld(tb testing.TB) *world {
	tb.Helper()
	dir := tb.TempDir()
	log := slog.New(slog.DiscardHandler)
	store, err := filestore.Open(filestore.Options{Dir: dir, Logger: log})
	stdtest.Must(tb, err)
	w := &world{t: tb, store: store, file: filepath.Join(dir, "index", "search.db"), chats: map[messages.ChatKey]persistence.Chat{}}
	w.index = w.newIndex()
	tb.Cleanup(func() {
		if err := w.index.Close(); err != nil {
			tb.Error(err)
		}
		if err := store.Close(); err != nil {
			tb.Error(err)
		}
	})
	return w
}

func (w *world) newIndex() *searchindex.Index {
	return searchindex.New(searchindex.Options{
		File: w.file, Chats: w.store.Chats, ChatDir: w.store.ChatDir, Parse: filestore.ParseTurn, Logger: slog.New(slog.DiscardHandler),
		Skip: []string{"chat_history_search"},
	})
}

// say appends a user turn to a chat and returns its id.
func (w *world) say(key messages.ChatKey, text string) string {
	w.t.Helper()
	turn := w.turn(key, text)
	w.add(key, turn)
	return turn.ID
}

func (w *world) turn(key messages.ChatKey, text string) uimessage.Message {
	w.seq++
	id := "u:" + string(key) + ":" + strconv.FormatInt(w.seq, 10)
	meta := uimessage.Metadata{TS: w.seq * 1000, RequestID: "r" + strconv.FormatInt(w.seq, 10), Username: "secretname", Seq: w.seq}
	return uimessage.Message{ID: id, Role: uimessage.RoleUser, Metadata: meta.Raw(), Parts: []uimessage.Part{uimessage.Text{Text: text}}}
}

func (w *world) add(key messages.ChatKey, turns ...uimessage.Message) {
	w.t.Helper()
	stdtest.Must(w.t, w.chat(key).AppendHistory(w.t.Context(), turns...))
}

func (w *world) chat(key messages.ChatKey) persistence.Chat {
	w.t.Helper()
	if w.chats[key] == nil {
		c, err := w.store.OpenChat(w.t.Context(), key)
		stdtest.Must(w.t, err)
		if _, err := c.Load(w.t.Context()); err != nil {
			w.t.Fatal(err)
		}
		w.chats[key] = c
	}
	return w.chats[key]
}

// archive moves turns of a chat's history into an archive.
func (w *world) archive(key messages.ChatKey, id string, from, to int, insert ...uimessage.Message) {
	w.t.Helper()
	stdtest.Must(w.t, w.chat(key).Rewrite(w.t.Context(), journal.Rewrite{ArchiveID: id, At: time.UnixMilli(1), From: from, To: to, Insert: insert}))
}

func (w *world) search(key messages.ChatKey, text string) []persistence.Found {
	w.t.Helper()
	hits, err := w.index.Search(w.t.Context(), key, persistence.Search{Text: text})
	if err != nil {
		w.t.Fatalf("search %q in %s: %v", text, key, err)
	}
	for _, h := range hits {
		w.checkOriginal(h)
	}
	return hits
}

// checkOriginal reads the place of a hit and compares the bytes.
func (w *world) checkOriginal(h persistence.Found) {
	w.t.Helper()
	dir, err := w.store.ChatDir(h.ChatKey)
	stdtest.Must(w.t, err)
	i := strings.LastIndexByte(h.Place, ':')
	at, err := strconv.Atoi(h.Place[i+1:])
	if err != nil {
		w.t.Fatalf("place %q: %v", h.Place, err)
	}
	b, err := os.ReadFile(filepath.Join(dir, h.Place[:i]))
	stdtest.Must(w.t, err)
	var original string
	if strings.HasSuffix(h.Place[:i], ".jsonl") {
		original, _, _ = strings.Cut(string(b[at:]), "\n")
	} else {
		var a struct {
			Lines    []string
			Messages []json.RawMessage
		}
		stdtest.Must(w.t, json.Unmarshal(b, &a))
		if a.Lines != nil {
			original = a.Lines[at-1]
		} else {
			original = string(a.Messages[at-1])
		}
	}
	if original != string(h.Line) {
		w.t.Errorf("at %s is\n%s\nwant\n%s", h.Place, original, h.Line)
	}
	if m, err := uimessage.Decode(h.Line); err != nil || m.ID != h.Message.ID {
		w.t.Errorf("the line of %s is not a message: %s", h.Place, h.Line)
	}
}

func ids(hits []persistence.Found) []string {
	out := []string{}
	for _, h := range hits {
		out = append(out, h.Message.ID)
	}
	return out
}

func (w *world) want(key messages.ChatKey, text string, want ...string) {
	w.t.Helper()
	stdtest.Diff(w.t, fmt.Sprintf("search %q in %s", text, key), append([]string{}, want...), ids(w.search(key, text)))
}

func TestSearch(t *testing.T) {
	w := newWorld(t)
	const key = "web-chat-x"
	w.want(key, "anything")
	dinner := w.say(key, "Dinner with Ana on Friday at 19:30, table for four")
	train := w.say(key, "The train to Köln leaves Friday, order INV-2024-001")
	weather := w.say(key, "上海明天的天气怎么样？")
	tests := []struct {
		name, query string
		want        []string
	}{
		{"a word", "train", []string{train}},
		{"case and accents", "KOLN", []string{train}},
		{"all words before any", "friday ana", []string{dinner, train}},
		{"any word if none has all", "train ana", []string{train, dinner}},
		{"the shorter one says more with a word", "friday", []string{train, dinner}},
		{"what stands together", "2024-001", []string{train}},
		{"in another order", "001-2024", nil},
		{"a longer form among other words", "ana at dinn", []string{dinner}},
		{"Chinese words", "天气", []string{weather}},
		{"Chinese beside each other only", "上天", nil},
		{"the end of a run", "样", []string{weather}},
		{"two Chinese words", "天气 上海", []string{weather}},
		{"a Chinese question without spaces", "明天上海天气如何", []string{weather}},
		{"no metadata", "secretname", nil},
		{"signs", `"*) OR (`, nil},
		{"the word of a chat", "c1", nil},
		{"nothing", "  ", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			stdtest.Diff(t, fmt.Sprintf("search %q", tt.query), append([]string{}, tt.want...), ids(w.search(key, tt.query)))
		})
	}
	if hit := w.search(key, "天气")[0]; hit.Excerpt.Text != "上海明天的天气怎么样？" || hit.Place == "" || hit.Score <= 0 || hit.ChatKey != key {
		t.Errorf("hit = %+v", hit)
	}
}

func TestRecencyBreaksTies(t *testing.T) {
	w := newWorld(t)
	first, second, third := w.say("web-chat-x", "the same words"), w.say("web-chat-x", "the same words"), w.say("web-chat-x", "the same words")
	w.want("web-chat-x", "same words", third, second, first)
	denser := w.say("web-chat-x", "words, words")
	w.say("web-chat-x", "later")
	if got := ids(w.search("web-chat-x", "words")); got[0] != denser {
		t.Errorf("found %q, want %s first", got, denser)
	}
}

// The answer to a question is found even if hundreds of newer turns contain the question's common
// words, and some the whole question.
func TestOldAnswersAreNotBuried(t *testing.T) {
	w := newWorld(t)
	const key = "web-chat-x"
	fact, chinese := w.say(key, "the rollout of Orion moves to March"), w.say(key, "我们决定猎户座项目推迟到三月上线")
	var noise []uimessage.Message
	for i := range 2100 {
		text := fmt.Sprintf("when does the %d. build run, and what is in the log of it", i)
		if i%2 == 0 {
			text = fmt.Sprintf("什么时候开会，第%d次", i)
		}
		noise = append(noise, w.turn(key, text))
	}
	w.add(key, noise...)
	asked := w.say(key, "when does the rollout of Orion happen")
	again := w.say(key, "猎户座项目什么时候上线")
	for _, tt := range []struct{ query, fact, asked string }{
		{"when does the rollout of Orion happen", fact, asked}, {"猎户座项目什么时候上线", chinese, again},
	} {
		if got := ids(w.search(key, tt.query)); len(got) < 2 || got[0] != tt.asked || got[1] != tt.fact {
			t.Errorf("%q: found %q, want %s, then %s", tt.query, got, tt.asked, tt.fact)
		}
	}
}

func TestWhatToolsWereTold(t *testing.T) {
	w := newWorld(t)
	call := func(name, input string) uimessage.Part {
		return uimessage.Tool{ToolCallID: "1", Name: name, State: uimessage.ToolOutputAvailable, Input: json.RawMessage(input), Output: json.RawMessage(`{"said":"hidden"}`)}
	}
	w.add("telegram-chat-1", uimessage.Message{ID: "a1", Role: uimessage.RoleAssistant, Parts: []uimessage.Part{
		uimessage.Reasoning{Text: "hidden"}, call("chat_send", `{"text":"the answer is forty-two","final":true}`), call("chat_history_search", `{"query":"zanzibar"}`),
	}})
	w.want("telegram-chat-1", "forty-two", "a1")
	w.want("telegram-chat-1", "hidden")
	w.want("telegram-chat-1", "zanzibar")
	w.want("telegram-chat-1", "final")
}

// TestIndexFollowsTheFiles: the next search sees each change.
func TestIndexFollowsTheFiles(t *testing.T) {
	w := newWorld(t)
	const key = "web-chat-x"
	one, two := w.say(key, "apple one"), w.say(key, "apple two")
	w.want(key, "apple", two, one)
	three := w.say(key, "apple three")
	w.want(key, "apple", three, two, one)

	// A later line replaces the message in its place.
	w.add(key, uimessage.Message{ID: three, Role: uimessage.RoleUser, Parts: []uimessage.Part{uimessage.Text{Text: "banana"}}})
	w.want(key, "apple", two, one)
	w.want(key, "banana", three)

	// A rewrite moves turns; they are found at their new place, once.
	summary := uimessage.Message{ID: "s", Role: uimessage.RoleAssistant, Parts: []uimessage.Part{uimessage.Text{Text: "fruit was spoken of"}}}
	w.archive(key, "20260101-1-2", 0, 2, summary)
	w.want(key, "apple", two, one)
	if hit := w.search(key, "one")[0]; hit.Place != "messages/archive/20260101-1-2.json:1" {
		t.Errorf("place = %s", hit.Place)
	}
	w.want(key, "fruit", "s")
	w.want(key, "banana", three)

	// An archive whose rewrite was interrupted: the history still has the turns.
	dir, err := w.store.ChatDir(key)
	stdtest.Must(t, err)
	history, err := os.ReadFile(filepath.Join(dir, "messages", "history.jsonl"))
	stdtest.Must(t, err)
	var lines []string
	for line := range strings.Lines(string(history)) {
		lines = append(lines, strings.TrimSuffix(line, "\n"))
	}
	double, err := json.Marshal(journal.Archive{Version: 1, Lines: lines})
	stdtest.Must(t, err)
	extra := filepath.Join(dir, "messages", "archive", "cut-off.json")
	for _, step := range []struct {
		name string
		data []byte
		want []string
	}{{"twice", double, []string{three}}, {"no archive", []byte("{"), []string{three}}, {"gone", nil, []string{three}}} {
		if err := os.Remove(extra); err != nil && step.name != "twice" {
			t.Fatal(err)
		}
		if step.data != nil {
			stdtest.Must(t, os.WriteFile(extra, step.data, 0o600))
		}
		w.want(key, "banana", step.want...)
	}

	// Contexts are searched too.
	stdtest.Must(t, os.MkdirAll(filepath.Join(dir, "contexts", "archive"), 0o700))
	context := `{"v":1,"contextId":"c_20260101_0001","messages":[{"id":"old","role":"user","parts":[{"type":"text","text":"cherry"}],"metadata":{"ts":5,"seq":3}}]}`
	stdtest.Must(t, os.WriteFile(filepath.Join(dir, "contexts", "archive", "c_20260101_0001.json"), []byte(context), 0o600))
	w.want(key, "cherry", "old")

	// The chat is gone.
	stdtest.Must(t, os.RemoveAll(dir))
	for _, word := range []string{"apple", "banana", "cherry", "fruit"} {
		w.want(key, word)
	}
}

// TestHalfALine: a line that is being written is found once it is complete, and a damaged one
// never.
func TestHalfALine(t *testing.T) {
	w := newWorld(t)
	const key = "web-chat-x"
	first := w.say(key, "apple")
	dir, err := w.store.ChatDir(key)
	stdtest.Must(t, err)
	f, err := os.OpenFile(filepath.Join(dir, "messages", "history.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	stdtest.Must(t, err)
	defer func() { _ = f.Close() }()
	for _, step := range []struct {
		write string
		want  []string
	}{
		{`{"id":"b","role":"user","parts":[{"type":"te`, []string{first}},
		{`xt","text":"apple"}]}`, []string{first}},
		{"\n", []string{first, "b"}},
		{"\x00\x00\x00apple\n{\"apple\"\n", []string{first, "b"}},
		{`{"id":"c","role":"user","parts":[{"type":"text","text":"apple"}],"metadata":{"seq":3,"sum":"00000000"}}` + "\n", []string{first, "b"}},
	} {
		if _, err := f.WriteString(step.write); err != nil {
			t.Fatal(err)
		}
		w.want(key, "apple", step.want...)
	}
}

// TestPI6SearchSeesItsOwnChat: other chats affect neither the results nor their scores.
func TestPI6SearchSeesItsOwnChat(t *testing.T) {
	w := newWorld(t)
	w.say("web-chat-a", "budget for the summer party")
	w.say("web-chat-a", "the party is in summer")
	before := w.search("web-chat-a", "summer party")
	for i := range 12 {
		key := messages.ChatKey(fmt.Sprintf("web-chat-b%d", i))
		w.say(key, "canary-7f3a summer party 金丝雀")
		w.search(key, "canary")
	}
	for _, query := range []string{"canary", "canary-7f3a", "7f3a", "金丝雀", "金", "c2", `" OR chat : "c2`, "chat:c2 canary", "body", "NOT summer"} {
		for _, h := range w.search("web-chat-a", query) {
			if h.ChatKey != "web-chat-a" || strings.Contains(string(h.Line), "canary") {
				t.Errorf("%q found %s in %s", query, h.Line, h.ChatKey)
			}
		}
	}
	if diff := cmp.Diff(before, w.search("web-chat-a", "summer party")); diff != "" {
		t.Errorf("other chats changed the result (-before +after):\n%s", diff)
	}
	all, err := w.index.SearchAll(t.Context(), persistence.Search{Text: "canary-7f3a", Limit: 100})
	if err != nil || len(all) != 12 {
		t.Errorf("all chats: %d hits, %v; want 12", len(all), err)
	}
}

func TestLimitAndRequest(t *testing.T) {
	w := newWorld(t)
	for range 30 {
		w.say("web-chat-x", "again and again")
	}
	for _, tt := range []struct{ limit, want int }{{0, 10}, {3, 3}, {1000, 30}} {
		hits, err := w.index.Search(t.Context(), "web-chat-x", persistence.Search{Text: "again", Limit: tt.limit})
		if err != nil || len(hits) != tt.want {
			t.Errorf("limit %d: %d hits, %v; want %d", tt.limit, len(hits), err, tt.want)
		}
	}
	hits, err := w.index.Search(t.Context(), "web-chat-x", persistence.Search{Text: "again", Limit: 1, NotRequest: "r30"})
	if err != nil || len(hits) != 1 || hits[0].Message.ID != "u:web-chat-x:29" {
		t.Errorf("without the newest request: %q, %v", ids(hits), err)
	}
}

// TestIndexCanBeLost: if its file is missing or damaged, the index is rebuilt.
func TestIndexCanBeLost(t *testing.T) {
	w := newWorld(t)
	one := w.say("web-chat-x", "apple")
	w.want("web-chat-x", "apple", one)
	whole := func() []byte {
		b := stdtest.Read(t, w.file)
		return b
	}
	for _, tt := range []struct {
		name   string
		damage func() error
	}{
		{"kept", func() error { return nil }},
		{"deleted", func() error { return os.Remove(w.file) }},
		{"empty", func() error { return os.Truncate(w.file, 0) }},
		{"something else", func() error { return os.WriteFile(w.file, []byte(strings.Repeat("no index ", 1000)), 0o600) }},
		{"cut", func() error { return os.Truncate(w.file, int64(len(whole())/2)) }},
		{"overwritten", func() error {
			b := whole()
			for i := 100; i < len(b); i++ {
				b[i] = 0xa5
			}
			return os.WriteFile(w.file, b, 0o600)
		}},
	} {
		if err := w.index.Close(); err != nil {
			t.Errorf("%s: close: %v", tt.name, err)
		}
		stdtest.Must(t, tt.damage())
		w.index = w.newIndex()
		w.want("web-chat-x", "apple", one)
	}
	info, err := os.Stat(w.file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; want 0600", info.Mode(), err)
	}
}

// TestIdleIsFree: nothing is opened before the first search, nor for an empty query.
func TestIdleIsFree(t *testing.T) {
	w := newWorld(t)
	w.say("web-chat-x", "apple")
	w.want("web-chat-x", "…")
	if _, err := os.Stat(filepath.Dir(w.file)); !os.IsNotExist(err) {
		t.Errorf("the folder of the index: %v, want none", err)
	}
	stdtest.Must(t, w.index.Close())
	if _, err := w.index.Search(t.Context(), "web-chat-x", persistence.Search{Text: "apple"}); err == nil {
		t.Error("a closed index searched")
	}
}

// TestTogether: concurrent searches of many chats, writers and a search of all chats.
func TestTogether(t *testing.T) {
	w := newWorld(t)
	for i := range 4 {
		w.say(messages.ChatKey(fmt.Sprintf("web-chat-%d", i)), "apple")
	}
	var wg sync.WaitGroup
	for i := range 4 {
		key := messages.ChatKey(fmt.Sprintf("web-chat-%d", i))
		c := w.chats[key]
		wg.Go(func() {
			for n := range 8 {
				id := fmt.Sprintf("m%d", n)
				if err := c.AppendHistory(t.Context(), uimessage.Message{ID: id, Role: uimessage.RoleUser, Parts: []uimessage.Part{uimessage.Text{Text: "word" + strconv.Itoa(n)}}}); err != nil {
					t.Error(err)
				}
				hits, err := w.index.Search(t.Context(), key, persistence.Search{Text: "word" + strconv.Itoa(n)})
				if err != nil || len(hits) != 1 || hits[0].Message.ID != id || hits[0].ChatKey != key {
					t.Errorf("%s %d: %q, %v", key, n, ids(hits), err)
				}
			}
		})
	}
	wg.Go(func() {
		if hits, err := w.index.SearchAll(t.Context(), persistence.Search{Text: "apple"}); err != nil || len(hits) != 4 {
			t.Errorf("all: %d, %v; want 4", len(hits), err)
		}
	})
	wg.Wait()
}

// TestManySteps: a long history is read completely, in steps.
func TestManySteps(t *testing.T) {
	w := newWorld(t)
	const turns = 1700
	w.fill("web-chat-x", turns)
	for _, n := range []int{0, 499, 500, 501, 1000, 1699} {
		w.want("web-chat-x", fmt.Sprintf("turn-%d-of", n), "u"+strconv.Itoa(n))
	}
}

func TestCancelled(t *testing.T) {
	w := newWorld(t)
	one := w.say("web-chat-x", "apple")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.index.Search(ctx, "web-chat-x", persistence.Search{Text: "apple"}); err == nil {
		t.Error("a cancelled search found something")
	}
	w.want("web-chat-x", "apple", one)
}

// fill gives a chat realistic turns.
func (w *world) fill(key messages.ChatKey, turns int) {
	w.t.Helper()
	var batch []uimessage.Message
	for i := range turns {
		meta := uimessage.Metadata{TS: int64(i), Seq: int64(i + 1)}
		text := fmt.Sprintf("turn-%d-of many: the deploy of service-%d to region %d went well, 明天继续部署第%d个服务，天气不错", i, i%977, i%13, i%977)
		batch = append(batch, uimessage.Message{ID: "u" + strconv.Itoa(i), Role: uimessage.RoleUser, Metadata: meta.Raw(), Parts: []uimessage.Part{uimessage.Text{Text: text}}})
		if len(batch) == 1000 || i == turns-1 {
			w.add(key, batch...)
			batch = nil
		}
	}
}

// BenchmarkSearch searches a chat of 100,000 turns; it also reports the build rate and the size of
// the file.
func BenchmarkSearch(b *testing.B) {
	w := newWorld(b)
	const key, turns = "web-chat-x", 100_000
	w.fill(key, turns)
	start := time.Now()
	w.search(key, "nothingofthekind")
	rate := turns / time.Since(start).Seconds()
	size := int64(0)
	_ = filepath.WalkDir(filepath.Dir(w.file), func(_ string, e fs.DirEntry, err error) error {
		if info, infoErr := e.Info(); err == nil && infoErr == nil && !e.IsDir() {
			size += info.Size()
		}
		return nil
	})
	for _, q := range []struct{ name, text string }{
		{"rare", "42424"}, {"two", "service-500 region"}, {"common", "deploy"}, {"chinese", "部署"}, {"none", "nothingofthekind"},
	} {
		b.Run(q.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := w.index.Search(b.Context(), key, persistence.Search{Text: q.text}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(rate, "turns_indexed/s")
			b.ReportMetric(float64(size)/turns, "index_B/turn")
		})
	}
}
