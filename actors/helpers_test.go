package actors_test

import (
	"log/slog"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/jsonl"
)

func newStore(t *testing.T) persistence.Store {
	t.Helper()
	s, err := jsonl.Open(jsonl.Options{Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func inbounds(in ...platform.Inbound) []platform.Inbound { return in }
