package actors_test

import (
	"log/slog"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
)

func newStore(t *testing.T) persistence.Store {
	t.Helper()
	s, err := filestore.Open(filestore.Options{Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func inbounds(in ...platform.Inbound) []platform.Inbound { return in }
