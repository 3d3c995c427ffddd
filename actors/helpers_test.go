package actors_test

import (
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/chatpath"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/filestoretest"
	"github.com/shipmyagent/shipmyagent/persistence/grantfile"
)

const alice = messages.ChatKey("telegram-chat-1")

func newStore(t *testing.T) persistence.Store {
	t.Helper()
	return filestoretest.In(t, t.TempDir())
}

// newGrants is a store of grants that survives a World, as a process's does.
func newGrants(t *testing.T) persistence.GrantStore {
	t.Helper()
	return grantfile.New(t.TempDir(), chatpath.Encode)
}

func inbounds(in ...platform.Inbound) []platform.Inbound { return in }
