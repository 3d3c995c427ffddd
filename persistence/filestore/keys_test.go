package filestore

import (
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/chatpath"
	"github.com/shipmyagent/shipmyagent/persistence/storetest"
)

// Random keys made of pieces that often cause trouble, in one store: each is its own chat and is
// listed.
func TestST15HostileKeysInOneStore(t *testing.T) {
	pieces := []string{
		"a", "A", "é", "e\u0301", "É", ".", "..", "/", "\\", "~", "~/", "%", "%2f", "+", "+a", " ", "\x00", "\n", "\u202e", "\ufeff", "ﬁ", "ß",
		"K", "\u212a", "İ", "ı", "世界", "👩‍👩‍👧", "con", "messages", "-", ":", "*", "?", "\"", "<", "|", strings.Repeat("x", 197), strings.Repeat("字", 70),
	}
	random := rand.New(rand.NewPCG(15, 15))
	s := openStore(t, Options{Dir: filepath.Join(t.TempDir(), "state"), FS: lazyFS()})
	want := map[messages.ChatKey]bool{}
	folded := map[string]messages.ChatKey{}
	fold := cases.Fold()
	for len(want) < often(300, 20_000) {
		var key messages.ChatKey
		for range 1 + random.IntN(8) {
			key += messages.ChatKey(pieces[random.IntN(len(pieces))])
		}
		if want[key] || len(key) > messages.MaxChatKey {
			continue
		}
		want[key] = true
		folder, err := chatpath.Encode(key)
		must(t, err)
		same := norm.NFD.String(fold.String(norm.NFD.String(folder)))
		if other, ok := folded[same]; ok {
			t.Fatalf("%q and %q share the folder %q", key, other, folder)
		}
		folded[same] = key
		c, err := s.OpenChat(t.Context(), key)
		must(t, err)
		must(t, c.AppendHistory(t.Context(), storetest.Turn(1)))
		must(t, c.Wake(t.Context()))
		must(t, c.Close())
	}
	got := map[messages.ChatKey]bool{}
	for key, err := range s.Chats(t.Context()) {
		must(t, err)
		got[key] = true
	}
	equal(t, "listed", want, got)
	waking, err := s.Waking(t.Context())
	must(t, err)
	equal(t, "to be woken", len(want), len(waking))
}
