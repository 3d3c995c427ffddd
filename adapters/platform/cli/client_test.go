package cli

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

func TestClient(t *testing.T) {
	h := newFakeHost()
	c := h.serve(t, "")
	ctx := t.Context()
	if got, err := c.Status(ctx); err != nil || got != (Status{Project: "Test", Model: "demo", Demo: true, Version: "v1"}) {
		t.Errorf("Status: %+v, %v", got, err)
	}
	if turn, _, err := c.Send(ctx, "a/b", "m1", "hi"); err != nil || turn != "m1" {
		t.Errorf("Send: %q, %v", turn, err)
	}
	stdtest.Diff(t, "sent", sent{"a/b", "m1", "hi", "respond-async"}, <-h.sent)
	var pieces []string
	answer, err := c.Ask(ctx, "main", "", "hi", func(s string) { pieces = append(pieces, s) })
	if err != nil || textOf(answer) != "Hello you" || answer.ID != "a1" || strings.Join(pieces, "|") != "Hello |you" {
		t.Errorf("Ask: %q in %q, %v, %v", textOf(answer), answer.ID, pieces, err)
	}
	// The host writes its own answers in Markdown. A terminal shows them as plain text.
	const shown = "#1: Is this (a, b) right?\n\nRun it\n\n```\nls *\n```"
	<-h.sent
	_, said, err := c.Send(ctx, "main", "m2", "/approvals")
	if err != nil || said != shown {
		t.Errorf("Send of a command: %q, %v", said, err)
	}
	<-h.sent
	pieces = nil
	answer, err = c.Ask(ctx, "main", "", "/approvals", func(s string) { pieces = append(pieces, s) })
	if err != nil || textOf(answer) != shown || strings.Join(pieces, "|") != shown {
		t.Errorf("Ask of a command: %q in %q, %v", textOf(answer), pieces, err)
	}
	if _, err := c.Ask(ctx, "main", "", "cut", nil); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("an answer without its end: got %v", err)
	}
	if was, err := c.Stop(ctx, "main", true); err != nil || !was || !<-h.stops {
		t.Errorf("Stop: %v, %v", was, err)
	}
	h.setView(`{"messages":[{"id":"u1","role":"user","parts":[]}],"waiting":[],"running":true,"counts":{"accepted":3,"open":1,"fates":{"answered":2},"outboxPending":0}}`)
	view, err := c.History(ctx, "main")
	if err != nil || len(view.Messages) != 1 || !view.Running || view.Counts.Fates["answered"] != 2 {
		t.Errorf("History: %+v, %v", view, err)
	}
	if view, err := c.History(ctx, "unknown"); err != nil || len(view.Messages) != 0 {
		t.Errorf("History of an unknown chat: %+v, %v", view, err)
	}
	h.refuse = `{"error":"busy","message":"The chat is answering."}`
	var refused *RefusedError
	if _, _, err := c.Send(ctx, "main", "m2", "hi"); !errors.As(err, &refused) || refused.Code != "busy" || err.Error() != "The chat is answering." {
		t.Errorf("a refusal: got %v", err)
	}
}

// The host's remark about the end is a paragraph of its own, printed as it arrives or at the end.
func TestRemarkIsAParagraph(t *testing.T) {
	live := ""
	answer := asking{reader: uistream.NewReader(nil), onText: func(s string) { live += s }}
	for _, c := range append([]uistream.Chunk{
		uistream.Start{}, uistream.TextStart{ID: "t"}, uistream.TextDelta{ID: "t", Delta: "Half an ans"}, uistream.TextEnd{ID: "t"},
	}, append(uistream.Notice("It was cut."), uistream.Finish{Reason: "length"})...) {
		stdtest.Must(t, answer.take(c))
	}
	const want = "Half an ans\n\nIt was cut."
	if whole := textOf(answer.reader.Message()); whole != want || live != want {
		t.Errorf("the whole answer is %q, and printed as it arrived %q", whole, live)
	}
}

// The texts of two steps are printed as they are stored: each on a line of its own.
func TestPartsAreLines(t *testing.T) {
	live := ""
	answer := asking{reader: uistream.NewReader(nil), onText: func(s string) { live += s }}
	for _, c := range []uistream.Chunk{
		uistream.Start{},
		uistream.TextStart{ID: "1"},
		uistream.TextDelta{ID: "1", Delta: "I look."},
		uistream.TextEnd{ID: "1"},
		uistream.TextStart{ID: "2"},
		uistream.TextEnd{ID: "2"},
		uistream.TextStart{ID: "3"},
		uistream.TextDelta{ID: "3", Delta: "It is "},
		uistream.TextDelta{ID: "3", Delta: "noon."},
		uistream.TextEnd{ID: "3"},
	} {
		stdtest.Must(t, answer.take(c))
	}
	const want = "I look.\nIt is noon."
	if whole := textOf(answer.reader.Message()); whole != want || live != want {
		t.Errorf("the whole answer is %q, and printed as it arrived %q", whole, live)
	}
}

func TestWatch(t *testing.T) {
	h := newFakeHost()
	c := h.serve(t, "")
	for _, line := range []string{
		`{"kind":"start","runId":"r1","messageId":"a2","sees":["u2"],"turns":[{"id":"u2","role":"user","parts":[{"type":"text","text":"<two>"}]}]}`,
		`{"kind":"chunks","runId":"r1","messageId":"a2","chunks":[{"type":"text-start","id":"t"},{"type":"text-delta","id":"t","delta":"<i>"}]}`,
		`{"kind":"event","runId":"r1","event":{"name":"tool_summary","step":1,"text":"ok"}}`,
		`{"kind":"end","runId":"r1","messageId":"a2","last":true,"result":"done","settled":["u2"]}`, "end",
	} {
		h.events <- line
	}
	var got []Event
	for e, err := range c.Watch(t.Context(), "main") {
		stdtest.Must(t, err)
		got = append(got, e)
	}
	if len(got) != 5 || got[0].Kind != "view" || got[1].Turns[0].ID != "u2" || got[3].Event.Name != "tool_summary" || got[3].Event.Step != 1 {
		t.Fatalf("got %+v", got)
	}
	stdtest.Diff(t, "chunks", chunks{uistream.TextStart{ID: "t"}, uistream.TextDelta{ID: "t", Delta: "<i>"}}, got[2].Chunks)
	if !got[4].Last || got[4].Result != "done" || got[4].Settled[0] != "u2" {
		t.Errorf("end: got %+v", got[4])
	}
}

func TestNotRunning(t *testing.T) {
	dir := t.TempDir()
	socket := filepath.Join(dir, "control.sock")
	for name, prepare := range map[string]func(){
		"no socket": func() {},
		"nobody listens": func() {
			ln, err := new(net.ListenConfig).Listen(t.Context(), "unix", socket)
			stdtest.Must(t, err)
			if u, ok := ln.(*net.UnixListener); ok {
				u.SetUnlinkOnClose(false)
			}
			_ = ln.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			prepare()
			if _, err := NewClient(socket).Status(t.Context()); !errors.Is(err, ErrNotRunning) {
				t.Errorf("got %v, want ErrNotRunning", err)
			}
			if err := NewREPL(REPLOptions{Client: NewClient(socket), In: strings.NewReader(""), Out: io.Discard}).Run(t.Context()); !errors.Is(err, ErrNotRunning) {
				t.Errorf("REPL: got %v, want ErrNotRunning", err)
			}
		})
	}
	// The socket that a dead host left is taken over.
	if _, err := newFakeHost().serve(t, socket).Status(t.Context()); err != nil {
		t.Errorf("after the take-over: %v", err)
	}
}

func TestSocketIsTheOwnersAlone(t *testing.T) {
	dir := t.TempDir()
	socket := filepath.Join(dir, ".ship", "control.sock")
	newFakeHost().serve(t, socket)
	info, err := os.Stat(socket)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("socket: %v, %v; want 0600", info.Mode(), err)
	}
	if info, err = os.Stat(filepath.Dir(socket)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("folder: %v, %v; want 0700", info.Mode(), err)
	}
	if _, err := Listen(t.Context(), socket); !errors.Is(err, ErrInUse) {
		t.Errorf("a second host: got %v, want ErrInUse", err)
	}
	if _, err := os.Stat(socket); err != nil {
		t.Errorf("the second host took the socket away: %v", err)
	}
}

func TestFilesAreNotTakenForSockets(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "control.sock")
	stdtest.Must(t, os.WriteFile(socket, []byte("precious"), 0o600))
	if _, err := Listen(t.Context(), socket); err == nil {
		t.Error("a file was taken for a socket")
	}
	if b, err := os.ReadFile(socket); err != nil || string(b) != "precious" {
		t.Errorf("the file was changed: %q, %v", b, err)
	}
}

func TestLongPath(t *testing.T) {
	socket := filepath.Join(t.TempDir(), strings.Repeat("long-folder-name/", 12), "control.sock")
	if _, err := newFakeHost().serve(t, socket).Status(t.Context()); err != nil {
		t.Errorf("a path of %d bytes: %v", len(socket), err)
	}
}

func FuzzDecodeEvent(f *testing.F) {
	f.Add([]byte(`{"kind":"chunks","chunks":[{"type":"text-delta","id":"t","delta":"x"}]}`))
	f.Add([]byte(`{"kind":"view","messages":[{"id":"1","role":"user","parts":[{"type":"tool-x","toolCallId":"1","state":"x"}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := decodeEvent(data)
		if err != nil {
			return
		}
		p := newPrinter(io.Discard, english(), &Screen{Color: true})
		p.event(e)
		if raw, err := json.Marshal(e.View); err != nil {
			t.Errorf("view cannot be written again: %v %s", err, raw)
		}
	})
}
