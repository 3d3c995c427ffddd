package jsonl

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/storetest"
)

// Lines that stay are copied byte for byte, foreign ones and unknown members
// too, and so are those that go to the archive.
func TestRewriteKeepsBytes(t *testing.T) {
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
	must(t, c.Rewrite(t.Context(), persistence.Rewrite{ArchiveID: "A.1_x-2", From: 1, To: 3, Insert: []uimessage.Message{storetest.Reply(9)}}))
	line := func(m uimessage.Message) string { return strings.TrimSuffix(string(appendTurn(nil, m)), "\n") }
	file, err := os.ReadFile(b.file(historyName))
	must(t, err)
	want := strings.Join([]string{foreign[0], line(storetest.Reply(9)), line(storetest.Turn(2)), foreign[2], ""}, "\n")
	equal(t, "file", want, string(file))
	a, err := c.ReadArchive(t.Context(), "A.1_x-2")
	must(t, err)
	equal(t, "archived lines", []string{foreign[1], line(storetest.Turn(1))}, a.Lines)
	must(t, c.AppendHistory(t.Context(), storetest.Turn(2), storetest.Turn(3))) // places are known after a rewrite
	file, err = os.ReadFile(b.file(historyName))
	must(t, err)
	equal(t, "file after an append", want+line(storetest.Turn(3))+"\n", string(file))
	for _, id := range []string{"", ".", "..", "a/b", ".hidden", "ü", strings.Repeat("x", 300)} {
		if _, err := c.ReadArchive(t.Context(), id); !errors.Is(err, persistence.ErrNotFound) {
			t.Errorf("archive %q: %v", id, err)
		}
		if id != "" {
			if err := c.Rewrite(t.Context(), persistence.Rewrite{ArchiveID: id}); err == nil {
				t.Errorf("archive %q was written", id)
			}
		}
	}
}

func TestMetaFile(t *testing.T) {
	whole := appendSealed(nil, func(b []byte) []byte { return append(b, `{"v":1,"ingressIds":["a"],"counts":{"accepted":3}}`...) })
	want := persistence.Meta{Version: 1, IngressIDs: []string{"a"}, Counts: persistence.Counts{Accepted: 3}}
	for _, tc := range []struct {
		name, file string
		want       persistence.Meta
		damage     int
	}{
		{"ours", string(whole), want, 0},
		{"by hand", `{"v":1, "ingressIds":["a"],"counts":{"accepted":3}}`, want, 0},
		{"flipped", strings.Replace(string(whole), `"a"`, `"b"`, 1), persistence.Meta{}, 1},
		{"torn", string(whole[:20]), persistence.Meta{}, 1},
		{"empty", "", persistence.Meta{}, 1},
		{"NUL", strings.Repeat("\x00", 50), persistence.Meta{}, 1},
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
