package filestore

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/internal/linefile"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/storetest"
)

// Lines that stay are copied byte for byte, including foreign ones and unknown members, and so are
// those that go to the archive.
func TestST18RewriteKeepsBytes(t *testing.T) {
	b := newBench(t, Options{FS: lazyFS()})
	foreign := []string{
		`{ "role" : "user", "id":"f1", "new":{"x":[1.50,1e3]}, "parts":[{"type":"text","text":"\u0041\/"}] }`,
		`{"id":"f2","role":"assistant","parts":[{"type":"from-later","x":1}],"metadata":null}` + "\r",
		`{"id":"f3","metadata":{"a":"\u00e9"},"role":"user"}`,
	}
	ours, _ := turnFile(2)
	b.spoil(t, historyName, []byte(foreign[0]+"\n"+foreign[1]+"\n\n"+string(ours)+foreign[2]))
	c := b.chat(t)
	defer func() { must(t, c.Close()) }()
	must(t, c.Rewrite(t.Context(), journal.Rewrite{ArchiveID: "A.1_x-2", From: 1, To: 3, Insert: []uimessage.Message{storetest.Reply(9)}}))
	line := func(m uimessage.Message) string { return strings.TrimSuffix(string(linefile.AppendTurn(nil, m)), "\n") }
	file, err := os.ReadFile(b.file(historyName))
	must(t, err)
	want := strings.Join([]string{foreign[0], line(storetest.Reply(9)), line(storetest.Turn(2)), foreign[2], ""}, "\n")
	equal(t, "file", want, string(file))
	a, err := c.ReadArchive(t.Context(), "A.1_x-2")
	must(t, err)
	equal(t, "archived lines", []string{foreign[1], line(storetest.Turn(1))}, a.Lines)
	must(t, c.AppendHistory(t.Context(), storetest.Turn(2), storetest.Turn(3))) // positions are known after a rewrite
	file, err = os.ReadFile(b.file(historyName))
	must(t, err)
	equal(t, "file after an append", want+line(storetest.Turn(3))+"\n", string(file))
	for _, id := range []string{"", ".", "..", "a/b", ".hidden", "ü", strings.Repeat("x", 300)} {
		if _, err := c.ReadArchive(t.Context(), id); !errors.Is(err, persistence.ErrNotFound) {
			t.Errorf("archive %q: %v", id, err)
		}
		if id != "" {
			if err := c.Rewrite(t.Context(), journal.Rewrite{ArchiveID: id}); err == nil {
				t.Errorf("archive %q was written", id)
			}
		}
	}
}

func TestST18MetaFile(t *testing.T) {
	whole := linefile.AppendSealed(nil, func(b []byte) []byte { return append(b, `{"v":1,"ingressIds":["a"],"counts":{"accepted":3}}`...) })
	want := journal.Meta{Version: 1, IngressIDs: []string{"a"}, Counts: journal.Counts{Accepted: 3}}
	for _, tc := range []struct {
		name, file string
		want       journal.Meta
		damage     int
	}{
		{"ours", string(whole), want, 0},
		{"by hand", `{"v":1, "ingressIds":["a"],"counts":{"accepted":3}}`, want, 0},
		{"flipped", strings.Replace(string(whole), `"a"`, `"b"`, 1), journal.Meta{}, 1},
		{"torn", string(whole[:20]), journal.Meta{}, 1},
		{"empty", "", journal.Meta{}, 1},
		{"NUL", strings.Repeat("\x00", 50), journal.Meta{}, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t, Options{FS: lazyFS()})
			b.spoil(t, metaName, []byte(tc.file))
			snap := b.load(t)
			equal(t, "meta", tc.want, snap.Meta)
			equal(t, "damage", tc.damage, len(snap.Damage))
			b.goOn(t, snap)
		})
	}
	t.Run("members of a newer version", func(t *testing.T) {
		b := newBench(t, Options{FS: lazyFS()})
		b.spoil(t, metaName, []byte(`{"v":2,"newer":{"z":[1]},"counts":{"accepted":3},"also":"x"}`))
		b.goOn(t, b.load(t))
		c := b.chat(t)
		_, err := c.Load(t.Context())
		must(t, err)
		must(t, c.Rest(t.Context()))
		must(t, c.Close())
		file, err := os.ReadFile(b.file(metaName))
		must(t, err)
		var all map[string]json.RawMessage
		must(t, json.Unmarshal(file, &all))
		equal(t, "kept", `{"z":[1]} "x" 2 1`, fmt.Sprintf("%s %s %s %s", all["newer"], all["also"], all["v"], all["gen"]))
	})
}

// Facts of a newer version, and known ones with unknown members, survive every load and checkpoint
// byte for byte, and the chat's state is refused.
func TestST18NewerFactsAreRefused(t *testing.T) {
	for _, tc := range []struct{ name, object string }{
		{"a kind", `{"n":3,"ts":5,"kind":"later","deep":{"x":[1.50,1e3]},"b":"\u0041<"}`},
		{"a member", `{"n":3,"ts":5,"kind":"call","runId":"r","callId":"c","later":true}`},
		{"a type", `{"n":3,"ts":5,"kind":"call","runId":7}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t, Options{FS: lazyFS()})
			newer := string(linefile.AppendSealed(nil, func(b []byte) []byte { return append(b, tc.object...) }))
			file := string(linefile.AppendRecord(nil, storetest.Facts(2, 2)[0])) + newer
			b.spoil(t, journalName, []byte(file))
			snap := b.load(t)
			equal(t, "damage", 0, len(snap.Damage))
			equal(t, "facts", 2, len(snap.Journal))
			if _, err := journal.Replay(snap); err == nil {
				t.Error("a state was made of facts that are not known")
			}
			if r := b.inspect(t); r.Refused == "" || len(r.Damage()) > 0 {
				t.Errorf("verified: %+v", r)
			}
			equal(t, "file after loading", file, b.read(t, journalName))
			c := b.chat(t)
			must(t, c.Checkpoint(t.Context(), journal.Checkpoint{Rest: snap.Journal[1:]}))
			must(t, c.Close())
			equal(t, "file after a checkpoint", newer, b.read(t, journalName))
		})
	}
}

// A meta of a higher version is not changed, and the chat is not used.
func TestST18NewerMetaIsRefused(t *testing.T) {
	b := newBench(t, Options{FS: lazyFS()})
	for _, file := range []string{
		`{"v":2,"counts":{"accepted":3},"later":1.50}`,
		`{"v":2,"ingressIds":{"of":"another type"}}`,
		string(linefile.AppendSealed(nil, func(b []byte) []byte { return append(b, `{"v":3,"counts":[]}`...) })),
	} {
		b.spoil(t, metaName, []byte(file))
		snap := b.load(t)
		equal(t, "damage", 0, len(snap.Damage))
		if _, err := journal.Replay(snap); err == nil {
			t.Error("a state was made of a meta that is not known")
		}
		if r := b.inspect(t); r.Refused == "" {
			t.Errorf("verified: %+v", r)
		}
		equal(t, "file", file, b.read(t, metaName))
	}
}

// Lines of a newer version in history, ledger and the meta's log survive loads, appends and a
// repair of their file unchanged.
func TestST18NewerLinesAreKept(t *testing.T) {
	seal := func(object string) string {
		return string(linefile.AppendSealed(nil, func(b []byte) []byte { return append(b, object...) }))
	}
	turn := uimessage.Metadata{TS: 1, Seq: 1, Extra: []uimessage.Member{{Name: "later", Value: json.RawMessage(`{"z":[1.50]}`)}}}
	m := uimessage.Message{ID: "n1", Role: uimessage.RoleUser, Metadata: turn.Raw(), Extra: []uimessage.Member{{Name: "also", Value: json.RawMessage(`"<x>"`)}}}
	for _, tc := range []struct{ name, line string }{
		{historyName, string(linefile.AppendTurn(nil, m))},
		{historyName, `{"id":"f1","role":"user","metadata":{"createdAt":1.50},"parts":[{"type":"later","x":{"a":[ ]}}],"next": null}` + "\n"},
		{ledgerName, seal(`{"n":1,"ts":1,"dir":"in","later":{"x":1.0},"fate":"answered"}`)},
		{ledgerName, `{"n":1, "dir":"sideways", "later":[1e3]}` + "\n"},
		{metaLogName, seal(`{"gen":0,"folded":0,"ids":["a"],"meta":{"v":1,"later":{"x":[1.50]},"counts":{"accepted":1}},"also":1}`)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBench(t, Options{FS: lazyFS()})
			b.spoil(t, tc.name, []byte(tc.line))
			snap := b.load(t)
			equal(t, "damage", 0, len(snap.Damage))
			b.goOn(t, snap)
			if now := b.read(t, tc.name); !strings.HasPrefix(now, tc.line) {
				t.Errorf("the line is now\n%s", now)
			}
			b.spoil(t, tc.name, []byte("x\n"+tc.line))
			b.repair(t)
			if tc.name == metaLogName { // the members are in the meta file now
				if now := b.read(t, metaName); !strings.Contains(now, `"later":{"x":[1.50]}`) {
					t.Errorf("the meta is now\n%s", now)
				}
				return
			}
			if now := b.read(t, tc.name); !strings.HasSuffix(now, tc.line) {
				t.Errorf("after a repair the line is\n%s", now)
			}
		})
	}
}
