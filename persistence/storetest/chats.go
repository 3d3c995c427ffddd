package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

func summary(id string) uimessage.Message {
	return uimessage.Message{
		ID: id, Role: uimessage.RoleAssistant, Parts: []uimessage.Part{uimessage.Text{Text: "summary"}},
		Metadata: json.RawMessage(`{"kind":"summary","sourceRange":{"fromId":"u1","toId":"u4","count":4},"seq":11}`),
	}
}

func testRewrite(s *suite) {
	t := s.t
	c, _ := s.open(key)
	stdtest.Must(t, c.AppendHistory(t.Context(), Turns(1, 6)...))
	edited := Turn(5)
	edited.Parts = []uimessage.Part{uimessage.Text{Text: "edited"}}
	stdtest.Must(t, c.AppendHistory(t.Context(), edited))
	stdtest.Must(t, c.Append(t.Context(), Facts(1, 2)...))
	stdtest.Must(t, c.Rewrite(t.Context(), journal.Rewrite{
		ArchiveID: "2026-1-4", At: at(), From: 0, To: 4, Insert: []uimessage.Message{summary("s1")}, Meta: metaOf(9),
	}))
	want := journal.Snapshot{History: []uimessage.Message{summary("s1"), edited, Turn(6)}, Journal: Facts(1, 2), Meta: metaOf(9)}
	same(t, "snapshot", want, load(t, c))
	stdtest.Must(t, c.Checkpoint(t.Context(), journal.Checkpoint{History: []uimessage.Message{Turn(7), edited}, Meta: metaOf(9)}))
	want.History, want.Journal = append(want.History, Turn(7)), nil
	c, snap := s.again()
	same(t, "snapshot after a crash", want, snap)
	// In the middle, with nothing in its place, and no archive.
	stdtest.Must(t, c.Rewrite(t.Context(), journal.Rewrite{From: 1, To: 3, Meta: metaOf(10)}))
	stdtest.Must(t, c.AppendHistory(t.Context(), Turn(8)))
	_, snap = s.again()
	same(t, "history", []uimessage.Message{summary("s1"), Turn(7), Turn(8)}, snap.History)
	c, _ = s.again()
	stdtest.Must(t, c.Rewrite(t.Context(), journal.Rewrite{From: 0, To: 3, Insert: Turns(20, 22), Meta: metaOf(10)}))
	_, snap = s.again()
	same(t, "history replaced as a whole", Turns(20, 22), snap.History)
}

func testRewriteRefused(s *suite) {
	t := s.t
	c, _ := s.open(key)
	stdtest.Must(t, c.AppendHistory(t.Context(), Turns(1, 3)...))
	for _, tc := range []struct {
		name string
		r    journal.Rewrite
	}{
		{"before the beginning", journal.Rewrite{From: -1, To: 1}},
		{"behind the end", journal.Rewrite{From: 0, To: 4}},
		{"backwards", journal.Rewrite{From: 2, To: 1}},
		{"an id that stays", journal.Rewrite{From: 0, To: 1, Insert: Turns(3, 3)}},
		{"an id twice", journal.Rewrite{From: 0, To: 3, Insert: []uimessage.Message{Turn(1), Turn(1)}}},
		{"no turn", journal.Rewrite{From: 0, To: 3, Insert: []uimessage.Message{{ID: "x", Role: uimessage.RoleSystem}}}},
	} {
		if err := c.Rewrite(t.Context(), tc.r); err == nil {
			t.Errorf("%s was taken", tc.name)
		}
	}
	stdtest.Must(t, c.AppendHistory(t.Context(), Turn(4)))
	_, snap := s.again()
	same(t, "history", Turns(1, 4), snap.History)
}

func testArchive(s *suite) {
	t := s.t
	c, _ := s.open(key)
	stdtest.Must(t, c.AppendHistory(t.Context(), Turns(1, 3)...))
	stdtest.Must(t, c.Rewrite(t.Context(), journal.Rewrite{ArchiveID: "first", At: at(), To: 2, Insert: []uimessage.Message{summary("s")}}))
	stdtest.Must(t, c.Rewrite(t.Context(), journal.Rewrite{ArchiveID: "second", At: at(), From: 1, To: 2}))
	c, _ = s.again()
	first, err := c.ReadArchive(t.Context(), "first")
	stdtest.Must(t, err)
	var held []uimessage.Message
	for _, line := range first.Lines {
		m, err := uimessage.Decode([]byte(line))
		stdtest.Must(t, err)
		held = append(held, m)
	}
	same(t, "archived lines", words(Turns(1, 2)), words(held))
	first.Lines = nil
	same(t, "archive", journal.Archive{
		Version: 1, ChatKey: key, ArchivedAt: at().UnixMilli(), SourceRange: json.RawMessage(`{"fromId":"u1","toId":"u4","count":4}`),
	}, first)
	second, err := c.ReadArchive(t.Context(), "second")
	stdtest.Must(t, err)
	same(t, "range of an archive without a summary", `{"fromId":"u3","toId":"u3","count":1}`, string(second.SourceRange))
	_, err = c.ReadArchive(t.Context(), "third")
	wantError(t, err, persistence.ErrNotFound, true)
	// An archive is never replaced by one with other lines.
	stdtest.Must(t, c.AppendHistory(t.Context(), Turns(5, 6)...))
	if err := c.Rewrite(t.Context(), journal.Rewrite{ArchiveID: "first", At: at(), From: 1, To: 2}); err == nil {
		t.Error("an archive was replaced by another of its name")
	}
	_, snap := s.again()
	same(t, "history", []uimessage.Message{summary("s"), Turn(5), Turn(6)}, snap.History)
}

func testWaking(s *suite) {
	t := s.t
	waking := func() []messages.ChatKey {
		t.Helper()
		keys, err := s.Waking(t.Context())
		stdtest.Must(t, err)
		slices.Sort(keys)
		return keys
	}
	same(t, "nothing to wake", 0, len(waking()))
	var want []messages.ChatKey
	for i := range 20 {
		k := messages.ChatKey(fmt.Sprintf("test-chat-%02d", i))
		c, _ := s.open(k)
		stdtest.Must(t, c.Wake(t.Context()))
		stdtest.Must(t, c.Wake(t.Context()))
		switch i % 4 {
		case 0:
			stdtest.Must(t, c.Rest(t.Context()))
			stdtest.Must(t, c.Rest(t.Context()))
		case 1:
			stdtest.Must(t, c.Rest(t.Context()))
			stdtest.Must(t, c.Wake(t.Context()))
			want = append(want, k)
		default:
			stdtest.Must(t, c.Close()) // closing is not resting
			want = append(want, k)
		}
	}
	same(t, "to wake", want, waking())
	s.crash()
	same(t, "to wake after a crash", want, waking())
	c, _ := s.open(want[0])
	stdtest.Must(t, c.Wake(t.Context()))
	stdtest.Must(t, c.Rest(t.Context()))
	same(t, "to wake after one came to rest", want[1:], waking())
	if got := chats(t, s); len(got) != 0 {
		t.Errorf("a mark made chats: %q", got)
	}
}

func testChats(s *suite) {
	t := s.t
	var want []messages.ChatKey
	for i := range 30 {
		k := messages.ChatKey(fmt.Sprintf("Test-chat-%02d", i))
		c, _ := s.open(k)
		switch i % 3 {
		case 0:
			stdtest.Must(t, c.AppendHistory(t.Context(), Turn(1)))
		case 1:
			stdtest.Must(t, c.Append(t.Context(), Facts(1, 1)...))
		default:
			stdtest.Must(t, c.Checkpoint(t.Context(), journal.Checkpoint{Meta: metaOf(1)}))
		}
		want = append(want, k)
	}
	same(t, "chats", want, chats(t, s))
	s.crash()
	same(t, "chats after a crash", want, chats(t, s))
	for _, err := range s.Chats(t.Context()) {
		stdtest.Must(t, err)
		break // a reader may stop
	}
}

func testKeys(s *suite) {
	t := s.t
	keys := []messages.ChatKey{
		"a", "A", "é", "e\u0301", "..", ".", "a/../../b", "~", "a~/b", "%2e", "con", "世界", messages.ChatKey(strings.Repeat("世", 341)),
		messages.ChatKey(strings.Repeat("x", messages.MaxChatKey)), messages.ChatKey(strings.Repeat("x", messages.MaxChatKey-1)),
		messages.ChatKey(strings.Repeat("x", 198)), "a\nb", " ",
	}
	for i, k := range keys {
		c, _ := s.open(k)
		stdtest.Must(t, c.Wake(t.Context()))
		stdtest.Must(t, c.AppendHistory(t.Context(), Turn(i+1)))
	}
	s.crash()
	for i, k := range keys {
		_, snap := s.open(k)
		same(t, fmt.Sprintf("history of %q", k), Turns(i+1, i+1), snap.History)
	}
	slices.Sort(keys)
	same(t, "chats", keys, chats(t, s))
	waking, err := s.Waking(t.Context())
	stdtest.Must(t, err)
	slices.Sort(waking)
	same(t, "to wake", keys, waking)
	for _, k := range []messages.ChatKey{"", messages.ChatKey(strings.Repeat("x", messages.MaxChatKey+1)), "a\xff"} {
		if _, err := s.OpenChat(t.Context(), k); err == nil {
			t.Errorf("key %q was taken", k)
		}
	}
}

func testOneHandle(s *suite) {
	t := s.t
	c, _ := s.open(key)
	if _, err := s.OpenChat(t.Context(), key); err == nil {
		t.Fatal("a second handle was given out")
	}
	stdtest.Must(t, c.AppendHistory(t.Context(), Turn(1)))
	stdtest.Must(t, c.Close())
	again, err := s.OpenChat(t.Context(), key)
	stdtest.Must(t, err)
	stdtest.Must(t, c.Close()) // the old handle has no claim any more
	if _, err := s.OpenChat(t.Context(), key); err == nil {
		t.Fatal("a second handle was given out after the first was closed twice")
	}
	stdtest.Must(t, again.AppendHistory(t.Context(), Turn(2))) // without a load before
	same(t, "history", Turns(1, 2), load(t, again).History)
}

func testClosed(s *suite) {
	t := s.t
	c, _ := s.open(key)
	stdtest.Must(t, c.AppendHistory(t.Context(), Turn(1)))
	other, _ := s.open("other")
	stdtest.Must(t, other.Close())
	stdtest.Must(t, s.Close())
	stdtest.Must(t, s.Close())
	for i, closed := range []persistence.Chat{c, other} {
		_, loading := closed.Load(background())
		_, reading := closed.ReadArchive(background(), "x")
		refused := []error{
			loading, reading, closed.Append(background(), Facts(1, 1)...), closed.Note(background(), Facts(1, 1)...),
			closed.AppendHistory(background(), Turn(2)), closed.Checkpoint(background(), journal.Checkpoint{}),
			closed.Rewrite(background(), journal.Rewrite{}), closed.Wake(background()), closed.Rest(background()),
		}
		for _, err := range closed.Ledger(background()) {
			refused = append(refused, err)
		}
		for _, err := range refused {
			wantError(t, err, persistence.ErrClosed, false)
		}
		if err := closed.Close(); err != nil {
			t.Errorf("chat %d: second close: %v", i, err)
		}
	}
	_, err := s.OpenChat(background(), "x")
	wantError(t, err, persistence.ErrClosed, false)
	if _, err := s.Waking(background()); err == nil {
		t.Error("Waking on a closed store")
	}
	for _, err := range s.Chats(background()) {
		if err == nil {
			t.Error("Chats on a closed store")
		}
	}
	_, snap := s.again()
	same(t, "history", Turns(1, 1), snap.History)
}

func testParallel(s *suite) {
	t := s.t
	const many, each = 40, 15
	name := func(i int) messages.ChatKey { return messages.ChatKey(fmt.Sprintf("test-chat-%d", i)) }
	var wg sync.WaitGroup
	for i := range many {
		wg.Go(func() {
			c, err := s.OpenChat(t.Context(), name(i))
			if err != nil {
				t.Error(err)
				return
			}
			for n := 1; n <= each; n++ {
				at := int64(n)
				checkpoint := journal.Checkpoint{Ledger: Entries(at, at), Meta: metaOf(at)}
				err := errors.Join(c.Wake(t.Context()), c.AppendHistory(t.Context(), Turn(n)), c.Append(t.Context(), Facts(at, at)...), c.Checkpoint(t.Context(), checkpoint))
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	s.crash()
	for i := range many {
		c, snap := s.open(name(i))
		same(t, "snapshot", journal.Snapshot{History: Turns(1, each), Meta: metaOf(each), LedgerN: each}, snap)
		same(t, "ledger", Entries(1, each), ledger(t, c))
	}
}

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
	stdtest.Must(t, err)
	same(t, "contexts of a chat that is not there", 0, len(items))
	c, _ := s.open(key)
	stdtest.Must(t, c.AppendHistory(t.Context(), Turn(1), Reply(2), Turn(3), Reply(4), Turn(5)))
	stdtest.Must(t, c.Rewrite(t.Context(), journal.Rewrite{To: 2, Context: first, Meta: metaOf(1)}))
	stdtest.Must(t, c.Rewrite(t.Context(), journal.Rewrite{To: 2, Context: second, Insert: first.Messages, Meta: metaOf(2)}))
	_, snap := s.again()
	same(t, "history with a context loaded", []uimessage.Message{Turn(1), Reply(2), Turn(5)}, snap.History)
	items, err = s.Contexts(t.Context(), key)
	stdtest.Must(t, err)
	same(t, "contexts", []journal.ContextItem{second.Item(journal.DefaultSearchText), first.Item(journal.DefaultSearchText)}, items)
	for _, want := range []*journal.Context{first, second} {
		got, err := s.ReadContext(t.Context(), key, want.ID)
		stdtest.Must(t, err)
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
	stdtest.Must(t, c.AppendHistory(t.Context(), Turns(1, 5)...))
	stdtest.Must(t, c.Rewrite(t.Context(), journal.Rewrite{ArchiveID: "first", At: at(), To: 2, Insert: []uimessage.Message{summary("s")}}))
	for range 2 { // with the handle open, and after a crash
		archived, ok := s.Store.(persistence.ArchiveReader)
		if !ok {
			t.Fatal("the store reads no archives")
		}
		got, err := archived.ReadArchive(t.Context(), key, "first")
		stdtest.Must(t, err)
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
	stdtest.Must(t, c.AppendHistory(t.Context(), Turns(1, 4)...))
	stdtest.Must(t, c.Rewrite(t.Context(), journal.Rewrite{To: 1, Context: contextOf(1, Turn(1))}))
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
	stdtest.Must(t, err)
	same(t, "the context that was there", []uimessage.Message{Turn(1)}, got.Messages)
	stdtest.Must(t, s.Close())
	_, err = s.Contexts(t.Context(), key)
	wantError(t, err, persistence.ErrClosed, true)
}
