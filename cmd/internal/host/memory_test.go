package host

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/compaction"
	extraction "github.com/shipmyagent/shipmyagent/actors/memory"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/cmd/internal/budgets"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence/ledger"
)

// lookIntoMemory is a model that searches the memory for the words in the message.
func lookIntoMemory(req model.Request) []model.Event {
	say := func(text string) []model.Event { return append(modeltest.TextEvents(text), modeltest.Finish("stop")) }
	last := req.Messages[len(req.Messages)-1]
	if len(req.Tools) == 0 || len(last.Parts) == 0 {
		return say("{}")
	}
	switch p := last.Parts[len(last.Parts)-1].(type) {
	case modelmessage.Text:
		call := modeltest.Call{ID: "look_" + p.Text, Name: "memory_search", Input: `{"query":"` + p.Text + `"}`}
		return append(modeltest.CallEvents(call), modeltest.Finish("tool-calls"))
	case modelmessage.ToolResult:
		return say("It says: " + p.Output.Text + string(p.Output.JSON))
	default:
		return nil
	}
}

// TestMemoryByMeaning: with an embedding model at the model's address, facts are found in other
// words, vectors survive a restart, and if the provider fails the search still uses words. All of it
// runs over HTTP with the model's key.
func TestMemoryByMeaning(t *testing.T) {
	p := newProject(t)
	meanings := modeltest.NewMeanings([]string{"flat", "apartment"}, []string{"drinks", "beverage"})
	s := modeltest.NewServer(modeltest.NewFunc(lookIntoMemory), modeltest.ServerOptions{Key: "sk-canary-0123456789", Embedder: meanings})
	t.Cleanup(s.Close)
	flags := telegramFlags(p)
	flags["llm.baseUrl"], flags["context.memory.embeddingModel"], flags["adapters.telegram.egress"] = s.URL, "embed-small", "direct"
	stdtest.Write(t, filepath.Join(p.dir, ".ship", "memory", "project.md"), "- 2026-01-01 the office moves to a flat in Kiel\n- 2026-01-02 Bo drinks rooibos\n")
	vectors := filepath.Join(p.dir, ".ship", "index", "vectors.db")
	said := 0
	ask := func(query string) string {
		p.api.Say(1, 1, query, nil)
		said++
		p.api.Await(t, "the answer about "+query, func() bool { return len(p.api.Sent(1)) == said })
		return p.api.Sent(1)[said-1].Text
	}
	for range 2 { // a restart
		h := p.prepare(t, Options{}, flags)
		stdtest.Must(t, h.Start(t.Context()))
		if _, err := os.Stat(vectors); (err == nil) != (said > 0) {
			t.Errorf("the cache before a search: %v", err)
		}
		text := ask("apartment")
		kiel, bo := strings.Index(text, "flat in Kiel"), strings.Index(text, "rooibos")
		if kiel < 0 || bo >= 0 && bo < kiel || strings.Contains(text, "words alone") {
			t.Errorf("the model read %s", text)
		}
		stdtest.Must(t, h.Stop(context.WithoutCancel(t.Context())))
	}
	if n := len(meanings.Calls()); n != 1 {
		t.Errorf("the embedding model was asked %d times, want once: the second host has the vectors", n)
	}
	meanings.FailWith(func(context.Context, []string) error { return &model.Error{Reason: model.ReasonOverloaded} })
	p.start(t, Options{}, flags)
	if text := ask("beverage"); strings.Contains(text, "rooibos") || !strings.Contains(text, "words alone") {
		t.Errorf("without vectors the model read %s", text)
	}
	if text := ask("rooibos"); !strings.Contains(text, "Bo drinks rooibos") {
		t.Errorf("by words the model read %s", text)
	}
	for _, err := range s.Faults() {
		t.Errorf("a strict provider refuses a request: %v", err)
	}
}

// Requests to the embedding model are in the ledger, with their price, on the account of the chat and of the person who
// asks. A new address in the settings of the models is used from then on.
func TestEmbeddingsAreCounted(t *testing.T) {
	s := newSpender(t, modeltest.NewFunc(lookIntoMemory), map[string]string{})
	meanings := modeltest.NewMeanings([]string{"flat", "apartment"}, []string{"drinks", "beverage"})
	server := modeltest.NewServer(modeltest.NewFunc(lookIntoMemory), modeltest.ServerOptions{Embedder: meanings})
	t.Cleanup(server.Close)
	s.flags["context.memory.embeddingModel"] = "embed-small"
	s.flags["llm.models"] = `{"m": {"usdPerMInput": 1, "usdPerMOutput": 10}, "embed-small": {"usdPerMInput": 2}}`
	stdtest.Write(t, filepath.Join(s.dir, ".ship", "memory", "project.md"), "- 2026-01-01 the office moves to a flat in Kiel\n")
	s.start(t)
	s.limit(t, map[string]string{"llm.baseUrl": server.URL, "budget.usdPerHostPerDay": "5"})
	if text := s.say(t, 1, 7, "apartment", nil); !strings.Contains(text, "flat in Kiel") || strings.Contains(text, "words alone") {
		t.Errorf("the model read %s", text)
	}
	s.stop(t)
	rows, err := ledger.Usage(budgets.Dir(filepath.Join(s.dir, ".ship")), "")
	stdtest.Must(t, err)
	var got []ledger.Row
	for _, r := range rows {
		if r.Work == string(model.WorkEmbed) {
			r.Day = ""
			got = append(got, r)
		}
	}
	want := []ledger.Row{{Chat: "telegram-chat-1", Person: "telegram-7", Model: "embed-small", Work: "embed", Calls: 1, Amount: ledger.Amount{Input: 2, NanoUSD: 4000}}}
	stdtest.Diff(t, "embeddings in the ledger", want, got)
}

// A model that may take long to begin its answers may also take long to summarize and to extract.
func TestBackgroundWorkWaitsForSlowModels(t *testing.T) {
	for _, tt := range []struct {
		firstByteS    int
		summary, memo time.Duration
	}{
		{60, 2 * time.Minute, 3 * time.Minute},
		{15, 2 * time.Minute, 3 * time.Minute},
		{600, 20 * time.Minute, 20 * time.Minute},
	} {
		llm := config.LLM{FirstByteS: tt.firstByteS}
		if s, m := within(compaction.DefaultDeadline, llm), within(extraction.DefaultDeadline, llm); s != tt.summary || m != tt.memo {
			t.Errorf("with %d s: %v and %v, want %v and %v", tt.firstByteS, s, m, tt.summary, tt.memo)
		}
	}
}
