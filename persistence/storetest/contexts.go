package storetest

import (
	"fmt"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// contextOf is a context of turns, with the n-th id.
func contextOf(n int, turns ...uimessage.Message) *journal.Context {
	order := messages.ContextSwitch{Kind: messages.ContextNew, ID: fmt.Sprintf("c_20260102_%04d", n), Reason: "done with it"}
	var list []journal.Turn
	for _, m := range turns {
		list = append(list, journal.NewTurn(m))
	}
	c := journal.NewContext(order, at().UnixMilli()+int64(n), list)
	return &c
}

// A context is there whole with the history that it was taken out of, is listed with
// the newest first, and is written once.
func testContexts(s *suite) {
	t := s.t
	first, second := contextOf(1, Turn(1), Reply(2)), contextOf(2, Turn(3), Reply(4))
	items, err := s.Contexts(t.Context(), key)
	must(t, err)
	same(t, "contexts of a chat that is not there", 0, len(items))
	c, _ := s.open(key)
	must(t, c.AppendHistory(t.Context(), Turn(1), Reply(2), Turn(3), Reply(4), Turn(5)))
	must(t, c.Rewrite(t.Context(), journal.Rewrite{To: 2, Context: first, Meta: metaOf(1)}))
	must(t, c.Rewrite(t.Context(), journal.Rewrite{To: 2, Context: second, Insert: first.Messages, Meta: metaOf(2)}))
	_, snap := s.again()
	same(t, "history with a context loaded", []uimessage.Message{Turn(1), Reply(2), Turn(5)}, snap.History)
	items, err = s.Contexts(t.Context(), key)
	must(t, err)
	same(t, "contexts", []journal.ContextItem{second.Item(journal.DefaultSearchText), first.Item(journal.DefaultSearchText)}, items)
	for _, want := range []*journal.Context{first, second} {
		got, err := s.ReadContext(t.Context(), key, want.ID)
		must(t, err)
		same(t, "context", *want, got)
	}
	for _, id := range []string{"c_20260102_9999", "", "../../x", "c_20260102_0001.json"} {
		_, err = s.ReadContext(t.Context(), key, id)
		wantError(t, err, persistence.ErrNotFound, true)
	}
}

// Archived turns can be read while the chat is open, and only under the key of their chat.
func testArchiveReader(s *suite) {
	t := s.t
	c, _ := s.open(key)
	must(t, c.AppendHistory(t.Context(), Turns(1, 5)...))
	must(t, c.Rewrite(t.Context(), journal.Rewrite{ArchiveID: "first", At: at(), To: 2, Insert: []uimessage.Message{summary("s")}}))
	for range 2 { // with the handle open, and after a crash
		archived, ok := s.Store.(persistence.ArchiveReader)
		if !ok {
			t.Fatal("the store reads no archives")
		}
		got, err := archived.ReadArchive(t.Context(), key, "first")
		must(t, err)
		same(t, "archived turns", words(Turns(1, 2)), words(got))
		for _, id := range []string{"second", "", "../archive/first", "first.json"} {
			_, err = archived.ReadArchive(t.Context(), key, id)
			wantError(t, err, persistence.ErrNotFound, true)
		}
		_, err = archived.ReadArchive(t.Context(), "cli-chat-nobody", "first")
		wantError(t, err, persistence.ErrNotFound, true)
		s.again()
	}
}

// What is refused changes nothing: a context of another content under a known id, or
// under none.
func testContextsRefused(s *suite) {
	t := s.t
	c, _ := s.open(key)
	must(t, c.AppendHistory(t.Context(), Turns(1, 4)...))
	must(t, c.Rewrite(t.Context(), journal.Rewrite{To: 1, Context: contextOf(1, Turn(1))}))
	other := contextOf(1, Turn(2))
	nameless := contextOf(2, Turn(2))
	nameless.ID = "../x"
	for _, context := range []*journal.Context{other, nameless} {
		if err := c.Rewrite(t.Context(), journal.Rewrite{To: 1, Context: context}); err == nil {
			t.Errorf("context %q was taken", context.ID)
		}
	}
	_, snap := s.again()
	same(t, "history", Turns(2, 4), snap.History)
	got, err := s.ReadContext(t.Context(), key, other.ID)
	must(t, err)
	same(t, "the context that was there", []uimessage.Message{Turn(1)}, got.Messages)
	must(t, s.Close())
	_, err = s.Contexts(t.Context(), key)
	wantError(t, err, persistence.ErrClosed, true)
}
