package memory_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/adapters/tool/memory"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/memories"
)

// cache keeps vectors in memory.
type cache struct {
	mu   sync.Mutex
	kept map[string][]float32
	err  error
}

func (c *cache) Vectors(_ context.Context, name string, texts []string) ([][]float32, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([][]float32, len(texts))
	for i, text := range texts {
		out[i] = c.kept[name+" "+text]
	}
	return out, c.err
}

func (c *cache) KeepVectors(_ context.Context, name string, texts []string, vectors [][]float32) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, text := range texts {
		c.kept[name+" "+text] = vectors[i]
	}
	return c.err
}

// meaningOf is a search over memories, with a model that can be made to fail.
func meaningOf(texts map[memories.Place]string, c persistence.VectorCache) (*memory.Search, *modeltest.Meanings) {
	m := modeltest.NewMeanings([]string{"drinks", "beverage", "饮料", "tea"}, []string{"flat", "apartment", "住处"}, []string{"dog", "狗"})
	o := options(newStore(texts))
	o.Meaning = memory.NewMeaning(c, slog.New(slog.DiscardHandler))
	o.Meaning.Use(m, "embed")
	return memory.NewSearch(o), m
}

func someMemories() map[memories.Place]string {
	return map[memories.Place]string{
		{Chat: "telegram-chat-7"}: "# Facts\n- 2026-07-01 Ana likes green tea [u:a:1]\n- 2026-07-02 the parcel INV-2024-001 came\n---\n",
		{}:                        "- 2026-01-01 the office moves to a flat in Kiel\n",
		{User: "telegram-7"}:      "- has a dog\n",
		{User: "telegram-8"}:      "- Bob has a dog, which is secret\n",
	}
}

type found struct {
	Note    string
	Results []struct{ Scope, Text string }
}

func search(t *testing.T, s *memory.Search, query string, limit int) found {
	t.Helper()
	input, err := json.Marshal(map[string]any{"query": query, "limit": limit})
	stdtest.Must(t, err)
	r, err := invoke(t, s, alone(), string(input))
	var out found
	if err == nil {
		err = json.Unmarshal(r.Output, &out)
	}
	if err != nil {
		t.Fatalf("search %q: %v", query, err)
	}
	return out
}

const tea, parcel, flat, dog = "- 2026-07-01 Ana likes green tea [u:a:1]", "- 2026-07-02 the parcel INV-2024-001 came", "- 2026-01-01 the office moves to a flat in Kiel", "- has a dog"

// Facts are found in other words and other languages. Facts that contain the words themselves come
// first.
func TestSearchByMeaning(t *testing.T) {
	s, m := meaningOf(someMemories(), &cache{kept: map[string][]float32{}})
	for query, want := range map[string]string{"beverage": tea, "最喜欢的 饮料": tea, "apartment": flat, "狗": dog, "INV-2024-001": parcel, "tea": tea} {
		got := search(t, s, query, 2)
		if len(got.Results) == 0 || got.Results[0].Text != want || strings.Contains(got.Note, "words alone") {
			t.Errorf("%q finds %+v, want %q first", query, got, want)
		}
	}
	for _, call := range m.Calls() {
		for _, text := range call {
			if strings.Contains(text, "secret") || strings.Contains(text, "u:a:1") || strings.Contains(text, "2026-07") {
				t.Errorf("the model was given %q", text)
			}
		}
	}
	asked := len(m.Calls())
	search(t, s, "apartment", 2)
	search(t, s, "something new", 2)
	stdtest.Diff(t, "asked for what is known", [][]string{{"something new"}}, m.Calls()[asked:])
	if text := s.Spec().Description; !strings.Contains(text, "what they mean") {
		t.Errorf("the model does not know of it: %s", text)
	}
}

// Requests are on the account of the run. At the limit of one chat or person the search uses words; others are asked for.
func TestMeaningIsPaidForByTheRun(t *testing.T) {
	s, m := meaningOf(someMemories(), &cache{kept: map[string][]float32{}})
	m.FailWith(func(context.Context, []string) error {
		return &model.Error{Reason: model.ReasonBudget("chatTokensPerDay", false)}
	})
	if got := search(t, s, "beverage", 1); len(got.Results) != 0 || !strings.Contains(got.Note, "words alone") {
		t.Errorf("at the limit: %+v", got)
	}
	run := alone()
	if diff := cmp.Diff(model.Payer{Chat: run.ChatKey, Person: run.Payer, Run: run.RunID, Work: model.WorkEmbed}, m.Payer()); diff != "" || run.Payer == "" {
		t.Errorf("charged (-want +got):\n%s", diff)
	}
	m.FailWith(nil)
	if got := search(t, s, "beverage", 1); len(got.Results) != 1 {
		t.Errorf("below the limit again: %+v", got)
	}
}

// Two rankings are merged: entries of both come before the first entry of only one.
func TestOrdersAreFused(t *testing.T) {
	texts := map[memories.Place]string{{}: "- quarterly report on paper\n- dog report\n- the dog 狗 sleeps\n- cat\n"}
	s, _ := meaningOf(texts, &cache{kept: map[string][]float32{}})
	got := search(t, s, "dog report", 3)
	if len(got.Results) != 3 || got.Results[0].Text != "- dog report" {
		t.Errorf("found %+v", got)
	}
}

// A failing cache costs more requests and has no other effect.
func TestCacheThatFails(t *testing.T) {
	s, m := meaningOf(someMemories(), &cache{kept: map[string][]float32{}, err: context.DeadlineExceeded})
	for range 2 {
		if got := search(t, s, "beverage", 1); len(got.Results) != 1 || got.Results[0].Text != tea {
			t.Errorf("found %+v", got)
		}
	}
	if n := len(m.Calls()); n != 2 {
		t.Errorf("%d calls, want 2", n)
	}
}

// If the provider fails or does not answer, the search uses words only and the answer says so. For
// a while the provider is not tried again.
func TestSearchWithoutVectors(t *testing.T) {
	refused := func(context.Context, []string) error { return &model.Error{Reason: model.ReasonAuth} }
	silent := func(ctx context.Context, _ []string) error {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	for name, fail := range map[string]func(context.Context, []string) error{"refused": refused, "silent": silent} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, m := meaningOf(someMemories(), &cache{kept: map[string][]float32{}})
				m.FailWith(fail)
				began := time.Now()
				for range 3 {
					got := search(t, s, "green tea", 5)
					if len(got.Results) != 1 || got.Results[0].Text != tea || !strings.Contains(got.Note, "words alone") {
						t.Errorf("found %+v", got)
					}
					if got := search(t, s, "beverage", 5); len(got.Results) != 0 || !strings.Contains(got.Note, "words alone") {
						t.Errorf("found %+v", got)
					}
				}
				if took := time.Since(began); took > 5*time.Second || len(m.Calls()) != 1 {
					t.Errorf("%d calls, %v; want one and no more than its patience", len(m.Calls()), took)
				}
				m.FailWith(nil)
				wait(t, time.Minute)
				if got := search(t, s, "beverage", 5); len(got.Results) == 0 || got.Results[0].Text != tea || strings.Contains(got.Note, "words alone") {
					t.Errorf("once it answers: %+v", got)
				}
			})
		})
	}
}

// A stopped run is not counted as a failure of the model.
func TestStoppedSearch(t *testing.T) {
	s, m := meaningOf(someMemories(), &cache{kept: map[string][]float32{}})
	ctx, cancel := context.WithCancel(t.Context())
	m.FailWith(func(ctx context.Context, _ []string) error {
		cancel()
		<-ctx.Done()
		return context.Cause(ctx)
	})
	call := tool.Call{Name: memory.SearchName, Input: json.RawMessage(`{"query":"beverage"}`), Run: alone()}
	if _, err := s.Invoke(ctx, call); err != nil {
		t.Errorf("a search whose run was stopped: %v", err)
	}
	m.FailWith(nil)
	if got := search(t, s, "beverage", 1); len(got.Results) != 1 {
		t.Errorf("the next search: %+v", got)
	}
}

// A large memory gets its vectors in several steps.
func TestManyLines(t *testing.T) {
	var b strings.Builder
	for i := range 1200 {
		_, _ = fmt.Fprintf(&b, "- note %d\n", i)
	}
	b.WriteString("- the dog\n")
	s, m := meaningOf(map[memories.Place]string{{}: b.String()}, &cache{kept: map[string][]float32{}})
	for range 3 {
		search(t, s, "狗", 1)
	}
	if got := search(t, s, "狗", 1); len(got.Results) != 1 || got.Results[0].Text != "- the dog" {
		t.Errorf("found %+v", got)
	}
	texts := 0
	for _, call := range m.Calls() {
		texts += len(call)
		if len(call) > 64 {
			t.Errorf("%d texts at once", len(call))
		}
	}
	if texts != 1202 {
		t.Errorf("%d texts were asked for, want 1202", texts)
	}
}

func wait(t *testing.T, d time.Duration) {
	t.Helper()
	timer := time.NewTimer(d)
	defer timer.Stop()
	<-timer.C
}
