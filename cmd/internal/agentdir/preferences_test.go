package agentdir_test

import (
	"log/slog"
	"sync"
	"testing"

	"github.com/shipmyagent/shipmyagent/cmd/internal/agentdir"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence/chatfile"
)

// A person and an operator may change the preferences of a chat at the same time. No change undoes another.
func TestPreferencesKeepEveryChange(t *testing.T) {
	dir := t.TempDir()
	p := agentdir.NewPreferences(chatfile.New(func(messages.ChatKey) (string, error) { return dir, nil }), slog.New(slog.DiscardHandler))
	const chat messages.ChatKey = "web-chat-1"
	for range 20 {
		var all sync.WaitGroup
		for _, change := range []func() error{
			func() error { return p.SetPaused(chat, true) },
			func() error { return p.SetTitle(chat, "Roses") },
			func() error { return p.SetLanguage(chat, "zh") },
		} {
			all.Go(func() {
				if err := change(); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if !p.Paused(chat) || p.Title(chat) != "Roses" || p.Language(chat) != "zh" {
			t.Fatalf("paused %v, title %q, language %q: a change is lost", p.Paused(chat), p.Title(chat), p.Language(chat))
		}
		for _, err := range []error{p.SetPaused(chat, false), p.SetTitle(chat, ""), p.SetLanguage(chat, "")} {
			stdtest.Must(t, err)
		}
	}
}
