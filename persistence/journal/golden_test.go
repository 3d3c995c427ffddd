package journal_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

var update = flag.Bool("update", false, "write the golden chat folders anew")

const (
	goldenKey   = messages.ChatKey("telegram-chat-42")
	goldenStart = 1767323045000 // 2026-01-02T03:04:05Z
	firstRun    = "r_1"
	secondRun   = "r_2"
)

// story writes a chat as its actor would, with fixed times and ids.
type story struct {
	t     *testing.T
	dir   string
	store *filestore.Store
	chat  persistence.Chat
	state *journal.State
	ts    int64
}

func newStory(t *testing.T, dir string) *story {
	t.Helper()
	store, err := filestore.Open(filestore.Options{Dir: dir})
	stdtest.Must(t, err)
	chat, err := store.OpenChat(t.Context(), goldenKey)
	stdtest.Must(t, err)
	state, err := journal.Replay(journal.Snapshot{})
	stdtest.Must(t, err)
	s := &story{t: t, dir: dir, store: store, chat: chat, state: state, ts: goldenStart}
	s.must(chat.Wake(t.Context()))
	return s
}

func (s *story) must(err error) {
	s.t.Helper()
	stdtest.Must(s.t, err)
}

// now advances by a second with each call.
func (s *story) now() int64 {
	s.ts += 1000
	return s.ts
}

func (s *story) facts(facts ...journal.Fact) {
	s.t.Helper()
	records := s.state.Next(s.now(), facts...)
	s.must(s.chat.Append(s.t.Context(), records...))
	for _, r := range records {
		s.must(s.state.Apply(r))
	}
}

// idle appends an accepted turn to the history directly.
func (s *story) idle(n int, who, text string) {
	s.t.Helper()
	turn := journal.NewTurn(s.turn(n, who, text))
	s.must(s.chat.AppendHistory(s.t.Context(), turn.Message))
	s.state.AppendOpen(turn)
}

func (s *story) checkpoint() {
	s.t.Helper()
	s.must(s.chat.Checkpoint(s.t.Context(), s.state.Checkpoint(s.now())))
	s.state.Checkpointed()
}

// end closes everything, as if the process had ended.
func (s *story) end() {
	s.t.Helper()
	s.must(s.chat.Close())
	s.must(s.store.Close())
}

func turnID(n int) string { return fmt.Sprintf("u:%s:%d", goldenKey, n) }

func messageID(n int) string { return fmt.Sprintf("a:%s:%d", goldenKey, n) }

func (s *story) turn(n int, who, text string) uimessage.Message {
	id := fmt.Sprint(n)
	meta := uimessage.Metadata{
		TS: s.now(), ChatKey: string(goldenKey), Channel: "telegram", ChatID: "42", ChatType: "private", UserID: who, Username: who,
		MessageID: id, RequestID: "q" + id, Kind: uimessage.KindNormal, Source: uimessage.SourceIngress, IngressID: id, Seq: int64(n),
	}
	return uimessage.Message{
		ID: turnID(n), Role: uimessage.RoleUser, Metadata: meta.Append(nil), Parts: []uimessage.Part{uimessage.Text{Text: text}},
	}
}

// answer returns an assistant message. Without a result it is one that a merge closed.
func (s *story) answer(n int, run string, result journal.Result, fates []journal.Settled, parts ...uimessage.Part) uimessage.Message {
	meta := uimessage.Metadata{
		TS: s.now(), ChatKey: string(goldenKey), Channel: "telegram", ChatID: "42", RequestID: "q1", RunID: run,
		Kind: uimessage.KindNormal, Source: uimessage.SourceEgress, Result: string(result), Seq: s.state.Seq,
	}
	for _, f := range fates {
		meta.Fates = append(meta.Fates, uimessage.FateRecord{ID: f.TurnID, Fate: f.Fate, RunID: f.RunID, Step: int64(f.Step)})
	}
	return uimessage.Message{ID: messageID(n), Role: uimessage.RoleAssistant, Parts: parts, Metadata: meta.Append(nil)}
}

func words(text string) uimessage.Part { return uimessage.Text{Text: text, State: uimessage.TextDone} }

func call(id, name string) uimessage.Tool {
	return uimessage.Tool{ToolCallID: id, Name: name, State: uimessage.ToolInputAvailable, Input: json.RawMessage(`{"q":"<a> & ü"}`)}
}

func done(t uimessage.Tool, output string) uimessage.Tool {
	t.State, t.Output = uimessage.ToolOutputAvailable, json.RawMessage(output)
	return t
}

// hello is a first exchange that was delivered and checkpointed.
func (s *story) hello() {
	s.t.Helper()
	s.idle(1, "alice", "hello")
	s.facts(journal.RunStarted{RunID: firstRun, MessageID: messageID(1), RequestID: "q1", Attempt: 1})
	s.finish(1, firstRun, "Hello, Alice.", 1)
	s.facts(journal.EgressSettled{Key: journal.RowKey{MessageID: messageID(1), N: 1}, Outcome: journal.EgressDelivered, Receipts: []string{"1000"}})
	s.checkpoint()
}

// finish ends a run with words to be sent.
func (s *story) finish(n int, run, text string, turns ...int) {
	s.t.Helper()
	var fates []journal.Settled
	for _, t := range turns {
		fates = append(fates, journal.Settled{TurnID: turnID(t), Fate: journal.FateAnswered, RunID: run})
	}
	s.facts(journal.RunFinished{
		RunID: run, Message: s.answer(n, run, journal.ResultDone, fates, words(text)), Result: journal.ResultDone, Fates: fates,
		Rows: []journal.Row{{Key: journal.RowKey{MessageID: messageID(n), N: 1}, RunID: run, RequestID: "q1", Text: text}},
	})
}

// goldens are chats as they were on disk when their process ended.
var goldens = map[string]func(s *story){
	// A run took in a turn at a tool boundary and continues; another turn is queued.
	"merged_run": func(s *story) {
		s.hello()
		s.idle(2, "alice", "look it up")
		s.facts(journal.RunStarted{RunID: secondRun, MessageID: messageID(2), RequestID: "q2", Attempt: 1})
		look := call("c1", "look")
		s.facts(
			journal.StepResponded{RunID: secondRun, MessageID: messageID(2), Step: 1, Parts: []uimessage.Part{uimessage.StepStart{}, words("Let me see."), look}, Tokens: 99},
			journal.ToolStarted{RunID: secondRun, CallID: "c1"},
		)
		s.facts(journal.TurnAccepted{Turn: s.turn(3, "bob", "请快一点")})
		s.facts(journal.ToolFinished{RunID: secondRun, MessageID: messageID(2), Part: done(look, `{"found":[1,2]}`)})
		s.facts(journal.TurnsMerged{
			RunID: secondRun, Step: 2, Turns: []string{turnID(3)}, MessageID: messageID(3),
			Closed: s.answer(2, secondRun, "", nil, uimessage.StepStart{}, words("Let me see."), done(look, `{"found":[1,2]}`)),
			Rows:   []journal.Row{{Key: journal.RowKey{MessageID: messageID(2), N: 1}, RunID: secondRun, RequestID: "q2", Text: "Let me see."}},
		})
		s.facts(journal.EgressSent{Key: journal.RowKey{MessageID: messageID(2), N: 1}, Part: 0, MessageID: "1001"})
		s.facts(journal.TurnAccepted{Turn: s.turn(4, "alice", "and this")})
	},
	// A long answer is pending: its first part has a receipt, a checkpoint carried it over, and the next run began
	// before the rest was sent.
	"late_receipt": func(s *story) {
		s.hello()
		s.idle(2, "alice", "tell me everything")
		s.facts(journal.RunStarted{RunID: secondRun, MessageID: messageID(2), RequestID: "q2", Attempt: 1})
		s.finish(2, secondRun, strings.Repeat("A long story. ", 400), 2)
		key := journal.RowKey{MessageID: messageID(2), N: 1}
		s.facts(journal.EgressSent{Key: key, Part: 0, MessageID: "1001"})
		s.facts(journal.IngressSettled{
			Ingress: journal.Ingress{ID: "3", Seq: 3, MessageID: "3", UserID: "mallory", RequestID: "q3"}, Fate: journal.FateDeclined, Reason: "not_paired",
		})
		s.checkpoint()
		s.facts(journal.TurnAccepted{Turn: s.turn(4, "alice", "go on")})
		s.facts(journal.RunStarted{RunID: "r_3", MessageID: messageID(3), RequestID: "q4", Attempt: 1})
		s.facts(journal.EgressSent{Key: key, Part: 1, MessageID: "1002"})
	},
	// Of three calls of a step, one has its outcome, one may have begun, and one has not begun. A message of the run
	// is pending, and a person stopped the run.
	"crash_in_tools": func(s *story) {
		s.hello()
		s.idle(2, "alice", "pay and look")
		s.facts(journal.RunStarted{RunID: secondRun, MessageID: messageID(2), RequestID: "q2", Attempt: 1})
		book, pay, look := call("c1", "book"), call("c2", "pay"), call("c3", "look")
		s.facts(
			journal.StepResponded{RunID: secondRun, MessageID: messageID(2), Step: 1, Parts: []uimessage.Part{uimessage.StepStart{}, book, pay, look}},
			journal.ToolStarted{RunID: secondRun, CallID: "c1"}, journal.ToolStarted{RunID: secondRun, CallID: "c2"},
		)
		s.facts(journal.ToolFinished{RunID: secondRun, MessageID: messageID(2), Part: done(book, `"booked"`)})
		s.facts(journal.EgressQueued{Row: journal.Row{
			Key: journal.RowKey{MessageID: messageID(2), N: 1}, RunID: secondRun, RequestID: "q2", CallID: "c0", Text: "One moment.",
		}})
		s.facts(journal.StopRequested{RunID: secondRun, By: "alice", RequestID: "q3"})
	},
	// The process ended between a checkpoint and cutting the journal.
	"checkpoint_not_cut": func(s *story) {
		s.hello()
		s.idle(2, "alice", "again")
		s.facts(journal.RunStarted{RunID: secondRun, MessageID: messageID(2), RequestID: "q2", Attempt: 1})
		s.finish(2, secondRun, "Again.", 2)
		s.facts(journal.EgressSettled{Key: journal.RowKey{MessageID: messageID(2), N: 1}, Outcome: journal.EgressDelivered, Receipts: []string{"1001"}})
		journal := filepath.Join(s.dir, "chat", string(goldenKey), "messages", "journal.jsonl")
		before, err := os.ReadFile(journal)
		s.must(err)
		s.checkpoint()
		s.must(os.WriteFile(journal, bytes.TrimRight(before, " "), 0o600)) // without padding
	},
}

// Every later version must read the same state from these chat folders.
func TestGoldenFolders(t *testing.T) {
	for name, tell := range goldens {
		t.Run(name, func(t *testing.T) {
			golden := filepath.Join("testdata", "golden", name)
			fresh := filepath.Join(t.TempDir(), "fresh")
			s := newStory(t, fresh)
			tell(s)
			s.end()
			if *update {
				replaceGolden(t, golden, fresh)
			}
			sameFiles(t, golden, fresh)
			copied := filepath.Join(t.TempDir(), "copied")
			stdtest.Must(t, os.CopyFS(copied, os.DirFS(golden)))
			got := load(t, copied)
			want := filepath.Join(golden, "state.txt")
			if *update {
				stdtest.Must(t, os.WriteFile(want, []byte(got), 0o600))
			}
			text := stdtest.Read(t, want)
			stdtest.Diff(t, "state", strings.Split(string(text), "\n"), strings.Split(got, "\n"))
			if again := load(t, copied); again != got {
				t.Errorf("a second load differs:\n%s", cmp.Diff(got, again))
			}
		})
	}
}

func replaceGolden(t *testing.T, golden, fresh string) {
	t.Helper()
	stdtest.Must(t, os.RemoveAll(golden))
	stdtest.Must(t, os.CopyFS(filepath.Join(golden, "chat"), os.DirFS(filepath.Join(fresh, "chat"))))
}

// sameFiles checks that this version writes the same files as the golden folder.
func sameFiles(t *testing.T, golden, fresh string) {
	t.Helper()
	for _, file := range []string{"messages/history.jsonl", "messages/journal.jsonl", "conversations/history.jsonl"} {
		path := filepath.Join("chat", string(goldenKey), file)
		want, err := os.ReadFile(filepath.Join(golden, path))
		if err != nil {
			t.Error(err)
		}
		got, err := os.ReadFile(filepath.Join(fresh, path))
		if err != nil {
			t.Error(err)
		}
		if !bytes.Equal(want, got) {
			t.Errorf("%s is written in another way (-want +got):\n%s", file, cmp.Diff(string(want), string(got)))
		}
	}
}

// load reads a folder and describes its contents.
func load(t *testing.T, dir string) string {
	t.Helper()
	store, err := filestore.Open(filestore.Options{Dir: dir})
	stdtest.Must(t, err)
	defer func() { _ = store.Close() }() // only read
	chat, err := store.OpenChat(t.Context(), goldenKey)
	stdtest.Must(t, err)
	snap, err := chat.Load(t.Context())
	stdtest.Must(t, err)
	if len(snap.Damage) > 0 {
		t.Errorf("damage: %+v", snap.Damage)
	}
	state, err := journal.Replay(snap)
	stdtest.Must(t, err)
	b := &strings.Builder{}
	describe(b, state)
	b.WriteString("ledger:\n")
	var entries []string
	for e, err := range chat.Ledger(t.Context()) {
		if err != nil {
			t.Error(err)
		}
		entries = append(entries, fmt.Sprintf("  %s\n", journal.AppendLedgerEntry(nil, e)))
	}
	slices.Reverse(entries)
	b.WriteString(strings.Join(entries, ""))
	return b.String()
}

func describe(b *strings.Builder, s *journal.State) {
	counts := s.Counts()
	fmt.Fprintf(b, "record %d, accepted %d, open %d", s.N, s.Seq, len(s.Open()))
	for _, fate := range slices.Sorted(maps.Keys(counts.Fates)) {
		fmt.Fprintf(b, ", %s %d", fate, counts.Fates[fate])
	}
	fmt.Fprintf(b, ", at rest %v\nhistory:\n", s.Clean())
	for _, t := range s.History {
		describeTurn(b, t)
	}
	b.WriteString("waiting:\n")
	for _, t := range s.Lane {
		describeTurn(b, t)
	}
	if r := s.Run; r != nil {
		fmt.Fprintf(b, "run %s of %s: message %s, step %d, attempt %d, begun %v, final %v, last %d\n",
			r.ID, r.RequestID, r.MessageID, r.Step, r.Attempt, slices.Sorted(maps.Keys(r.Begun)), r.Final, r.Last-goldenStart)
		for _, v := range r.Visible {
			fmt.Fprintf(b, "  sees %s from step %d\n", v.TurnID, v.Step)
		}
		describeTurn(b, journal.Turn{Message: uimessage.Message{ID: r.MessageID, Role: uimessage.RoleAssistant, Parts: r.Parts}})
		if r.Stop != nil {
			fmt.Fprintf(b, "  stopped by %s\n", r.Stop.By)
		}
		for _, id := range slices.Sorted(maps.Keys(r.Rows)) {
			fmt.Fprintf(b, "  %s sends %v\n", id, r.Rows[id])
		}
	}
	b.WriteString("outbox:\n")
	for _, row := range s.Outbox {
		fmt.Fprintf(b, "  %s/%d: %d bytes, sent %v, perhaps more %v, parked %v\n", row.Key.MessageID, row.Key.N, len(row.Text), journal.IDs(row.Sent), row.Maybe, row.Parked)
	}
	for n := 1; n <= 5; n++ {
		if s.Known(fmt.Sprint(n)) {
			fmt.Fprintf(b, "knows ingress %d\n", n)
		}
	}
}

func describeTurn(b *strings.Builder, t journal.Turn) {
	fmt.Fprintf(b, "  %s %s seq %d", t.Role, t.ID, t.Meta.Seq)
	if t.Meta.Result != "" {
		fmt.Fprintf(b, " = %s", t.Meta.Result)
	}
	for _, f := range t.Meta.Fates {
		fmt.Fprintf(b, ", %s %s", f.ID, f.Fate)
	}
	b.WriteByte('\n')
	for _, p := range t.Parts {
		switch p := p.(type) {
		case uimessage.Text:
			fmt.Fprintf(b, "    %.60q\n", p.Text)
		case uimessage.Tool:
			fmt.Fprintf(b, "    %s %s(%s) %s %s\n", p.ToolCallID, p.Name, p.Input, p.State, p.Output)
		case uimessage.Reasoning, uimessage.StepStart, uimessage.SourceURL, uimessage.SourceDocument, uimessage.File, uimessage.Data, uimessage.Unknown:
			fmt.Fprintf(b, "    %s\n", p.Type())
		}
	}
}
