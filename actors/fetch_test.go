package actors_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
)

// post returns files when the test permits it.
type post struct {
	mu    sync.Mutex
	gates map[string]chan struct{}
	asked []string
}

func (p *post) gate(id string) chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gates == nil {
		p.gates = map[string]chan struct{}{}
	}
	if p.gates[id] == nil {
		p.gates[id] = make(chan struct{})
	}
	return p.gates[id]
}

// fetch replaces a file by its text once its gate is open.
func (p *post) fetch(ctx context.Context, _ messages.ChatKey, turn uimessage.Message) []uimessage.Part {
	var out []uimessage.Part
	for _, part := range turn.Parts {
		f, ok := platform.FileOf(part)
		if !ok || !f.Unfetched() {
			out = append(out, part)
			continue
		}
		p.mu.Lock()
		p.asked = append(p.asked, f.FileID)
		p.mu.Unlock()
		if f.FileID == "panic" {
			panic("a fetch")
		}
		select {
		case <-p.gate(f.FileID):
			f.Path = "in/" + f.FileID
			out = append(out, uimessage.Text{Text: "words of " + f.FileID}, f.Part())
		case <-ctx.Done():
			out = append(out, part)
		}
	}
	return out
}

func withFile(w *actortest.World, text, file, album string) platform.Inbound {
	in := w.Inbound(alice, "alice", text)
	in.Album = album
	in.Parts = []uimessage.Part{uimessage.Text{Text: "[" + file + "]"}, platform.File{Kind: "voice", FileID: file}.Part()}
	return in
}

func accept(t *testing.T, w *actortest.World, in ...platform.Inbound) []platform.Result {
	t.Helper()
	results := w.Port.Accept(context.Background(), in)
	for _, r := range results {
		if r.Err != nil {
			t.Fatal(r.Err)
		}
	}
	w.Wait()
	return results
}

// turns returns the texts of the user turns in the order in which the model sees them.
func turns(v platform.ChatView) []string {
	var out []string
	for _, m := range slices.Concat(v.Messages, v.Waiting) {
		if m.Role != uimessage.RoleUser {
			continue
		}
		var words []string
		for _, p := range m.Parts {
			if text, ok := p.(uimessage.Text); ok {
				words = append(words, text.Text)
			}
			if f, ok := platform.FileOf(p); ok && f.Failed != "" {
				words = append(words, "failed: "+f.Failed)
			}
		}
		out = append(out, strings.Join(words, "|"))
	}
	return out
}

func fetchWorld(t *testing.T, store persistence.Store, p *post, script *modeltest.Script) *actortest.World {
	t.Helper()
	o := actortest.Options{Store: store, Model: script}
	o.Chat.Fetch = p.fetch
	return actortest.New(t, o)
}

// atRest checks the counts of a chat at rest.
func atRest(t *testing.T, w *actortest.World, accepted int64) {
	t.Helper()
	v := w.View(alice)
	sum := int64(0)
	for _, n := range v.Counts.Fates {
		sum += n
	}
	if v.Running || v.Counts.Open != 0 || v.Counts.Accepted != accepted || sum != accepted {
		t.Errorf("at the end: running %t, %+v, want %d accepted", v.Running, v.Counts, accepted)
	}
}

func TestFileIsFetchedBeforeTheModelSeesItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, script := &post{}, modeltest.NewScript(modeltest.Say("Heard."), modeltest.Say("And that."))
		w := fetchWorld(t, newStore(t), p, script)
		r := accept(t, w, withFile(w, "", "a", ""))
		if r[0].TurnID == "" || len(script.Requests()) != 0 {
			t.Errorf("accepted as %q, %d requests before the file is there", r[0].TurnID, len(script.Requests()))
		}
		w.Say(alice, "alice", "and?")
		w.Wait()
		if n := len(script.Requests()); n != 0 {
			t.Errorf("a later turn overtook the one with the file: %d requests", n)
		}
		close(p.gate("a"))
		w.Wait()
		stdtest.Diff(t, "turns", []string{"[a]|words of a", "and?"}, turns(w.View(alice)))
		if n := len(script.Requests()); n != 1 {
			t.Errorf("%d requests", n)
		}
		atRest(t, w, 2)
	})
}

// A turn with a file that arrives during a run keeps its place: later turns wait behind it, also across the boundary of
// a step.
func TestFileHoldsItsPlaceInTheLane(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		p := &post{}
		script := modeltest.NewScript(
			modeltest.CallTools(modeltest.Call{ID: "c1", Name: "look", Input: "{}"}), modeltest.Say("First."), modeltest.Say("Second."))
		o := actortest.Options{Store: newStore(t), Model: script, Tools: actortest.Tools(actortest.Slow("look", gate))}
		o.Chat.Fetch = p.fetch
		w := actortest.New(t, o)
		w.Say(alice, "alice", "look")
		w.Wait()
		before := w.Inbound(alice, "alice", "before")
		accept(t, w, before, withFile(w, "caption", "a", ""), w.Inbound(alice, "alice", "behind"))
		close(gate)
		w.Wait()
		stdtest.Diff(t, "turns", []string{"look", "before", "caption|[a]", "behind"}, turns(w.View(alice)))
		if n := len(script.Requests()); n != 2 {
			t.Errorf("%d requests before the file is there", n)
		}
		close(p.gate("a"))
		w.Wait()
		stdtest.Diff(t, "turns", []string{"look", "before", "caption|[a]|words of a", "behind"}, turns(w.View(alice)))
		atRest(t, w, 4)
	})
}

func TestFileThatNeverArrives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, script := &post{}, modeltest.NewScript(modeltest.Say("No voice."), modeltest.Say("None either."))
		w := fetchWorld(t, newStore(t), p, script)
		accept(t, w, withFile(w, "", "never", ""))
		<-time.After(10 * time.Minute)
		w.Wait()
		accept(t, w, withFile(w, "", "panic", ""))
		stdtest.Diff(t, "turns", []string{"[never]|failed: it did not arrive in time", "[panic]|failed: a fault of the host"}, turns(w.View(alice)))
		atRest(t, w, 2)
	})
}

func TestFileIsFetchedAfterACrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, script := &post{}, modeltest.NewScript(modeltest.Say("Heard."))
		w := fetchWorld(t, newStore(t), p, script)
		accept(t, w, withFile(w, "", "a", ""))
		w = w.Again(nil)
		w.Wait()
		if n := len(p.asked); n != 2 {
			t.Errorf("asked for the file %d times", n)
		}
		close(p.gate("a"))
		w.Wait()
		stdtest.Diff(t, "turns", []string{"[a]|words of a"}, turns(w.View(alice)))
		atRest(t, w, 1)
		if n := len(script.Requests()); n != 1 {
			t.Errorf("%d requests", n)
		}
	})
}

// An edit of the caption while the file is being fetched counts, and nothing is lost.
func TestFileOfAnEditedTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, script := &post{}, modeltest.NewScript(modeltest.Say("Seen."))
		w := fetchWorld(t, newStore(t), p, script)
		first := withFile(w, "wrong", "a", "")
		accept(t, w, first)
		edit := withFile(w, "right", "a", "")
		edit.Kind, edit.EditOf, edit.MessageID = platform.KindEdit, first.MessageID, first.MessageID
		accept(t, w, edit)
		close(p.gate("a"))
		w.Wait()
		stdtest.Diff(t, "turns", []string{"right|[a]|words of a"}, turns(w.View(alice)))
		atRest(t, w, 2)
	})
}

// The files of an album arrive as separate messages and become one turn, at whatever times they arrive, and also after
// a crash.
func TestAlbumIsOneTurn(t *testing.T) {
	for _, fetches := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			p, script := &post{}, modeltest.NewScript(modeltest.Say("Three."), modeltest.Say("Late."))
			for _, id := range []string{"a", "b", "c", "d"} {
				close(p.gate(id))
			}
			o := actortest.Options{Store: newStore(t), Model: script}
			words := func(string) string { return "" }
			if fetches {
				o.Chat.Fetch = p.fetch
				words = func(id string) string { return "|words of " + id }
			}
			w := actortest.New(t, o)
			a, b, c := withFile(w, "look", "a", "g"), withFile(w, "", "b", "g"), withFile(w, "", "c", "g")
			accept(t, w, a, b)
			<-time.After(300 * time.Millisecond)
			r := accept(t, w, c, b)
			if !r[1].Duplicate {
				t.Error("a message of the album that came again is not known")
			}
			<-time.After(time.Second)
			w.Wait()
			want := []string{"look|[a]" + words("a") + "|[b]" + words("b") + "|[c]" + words("c")}
			stdtest.Diff(t, "turns", want, turns(w.View(alice)))
			atRest(t, w, 3)
			late := withFile(w, "", "d", "g")
			accept(t, w, late)
			<-time.After(time.Second)
			w.Wait()
			if got := turns(w.View(alice)); len(got) != 2 || got[1] != "[d]"+words("d") {
				t.Errorf("a file that came after the answer: %q", got)
			}
			atRest(t, w, 4)
		})
	}
}

// Albums of two people, or two albums of one person, stay separate.
func TestAlbumsStayApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := modeltest.NewScript(modeltest.Say("Seen."))
		w := actortest.New(t, actortest.Options{Store: newStore(t), Model: script})
		a, b, c := withFile(w, "", "a", "g"), withFile(w, "", "b", "g"), withFile(w, "", "c", "h")
		b.Sender = platform.Person{ID: "bob", Name: "bob"}
		accept(t, w, a, b, c)
		<-time.After(time.Second)
		w.Wait()
		stdtest.Diff(t, "turns", []string{"[a]", "[b]", "[c]"}, turns(w.View(alice)))
		atRest(t, w, 3)
	})
}
