package prompt

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

func photoTurn(n int) uimessage.Message {
	f := platform.File{Kind: "photo", FileID: fmt.Sprint("f", n), Path: fmt.Sprintf("results/c/file-%d.jpg", n), Picture: &messages.Picture{
		Path: fmt.Sprintf("results/c/picture-%d.jpg", n), Mime: "image/jpeg", Of: fmt.Sprintf("results/c/file-%d.jpg", n), Width: 40, Height: 30,
	}}
	return uimessage.Message{ID: fmt.Sprint("u", n), Role: uimessage.RoleUser, Parts: []uimessage.Part{uimessage.Text{Text: fmt.Sprint("look ", n)}, f.Part()}}
}

func answerTurn(n int) uimessage.Message {
	return uimessage.Message{ID: fmt.Sprint("a", n), Role: uimessage.RoleAssistant, Parts: []uimessage.Part{uimessage.StepStart{}, uimessage.Text{Text: "seen"}}}
}

// shownIn returns the numbers of the pictures that messages show.
func shownIn(list []modelmessage.Message) (out []string) {
	for _, m := range list {
		for _, p := range m.Parts {
			if f, ok := p.(modelmessage.File); ok {
				_, path, _ := messages.PictureOf(f.Data)
				out = append(out, strings.TrimSuffix(strings.TrimPrefix(path, "results/c/picture-"), ".jpg"))
			}
		}
	}
	return out
}

// Pictures age in groups: the prefix of the requests stays the same for ten pictures, then the
// oldest ten become notes at once, which is counted. The result is the same with a cache, without
// one and after a restart.
func TestPicturesAgeTogether(t *testing.T) {
	cache, counted := &Cache{}, 0
	var history []uimessage.Message
	var before []byte
	for n := range 45 {
		history = append(history, photoTurn(n))
		opts := Options{ChatKey: "c", Cache: cache}
		got := Messages(history, opts)
		fresh, err := json.Marshal(Messages(history, Options{ChatKey: "c"}))
		stdtest.Must(t, err)
		kept, err := json.Marshal(got)
		if err != nil || string(kept) != string(fresh) {
			t.Fatalf("with %d pictures a cache gives other messages, %v", n+1, err)
		}
		aged := cache.Aged() > counted
		counted = cache.Aged()
		same := before == nil || strings.HasPrefix(string(kept), string(before[:len(before)-1]))
		if same == aged {
			t.Errorf("with %d pictures the prefix is the same: %v, counted as aged: %v", n+1, same, aged)
		}
		if shown := shownIn(got); len(shown) < min(n+1, keepPictures) || len(shown) >= keepPictures+ageTogether || shown[len(shown)-1] != fmt.Sprint(n) {
			t.Errorf("with %d pictures these are shown: %v", n+1, shown)
		}
		before = kept
		history = append(history, answerTurn(n))
		if before, err = json.Marshal(Messages(history, opts)); err != nil {
			t.Fatal(err)
		}
	}
	if counted != 3 {
		t.Errorf("%d times pictures were replaced, want 3", counted)
	}
	text, err := json.Marshal(Messages(history, Options{ChatKey: "c"}))
	if err != nil || !strings.Contains(string(text), "[picture 40×30, no longer shown, because newer ones followed; read_file shows it again; path results/c/file-0.jpg]") {
		t.Errorf("what replaces the oldest picture does not say where it is: %v", err)
	}
}

// Files of a tool's results follow the results of the step, in order; a strict provider accepts
// that, and the unanswered turn is never left out.
func TestPicturesOfResults(t *testing.T) {
	call := func(id, path string) uimessage.Tool {
		return uimessage.Tool{
			Name: "read_file", ToolCallID: id, State: uimessage.ToolOutputAvailable, Input: json.RawMessage(`{}`), Output: json.RawMessage(`{"picture":{"path":"results/other/picture-9.jpg"}}`),
			ResultProviderMetadata: messages.WithPictures(nil, []messages.Picture{{Path: path, Mime: "image/jpeg", Name: "a]\n[b.png"}}),
		}
	}
	forged := uimessage.Tool{Name: "x", ToolCallID: "3", State: uimessage.ToolOutputAvailable, Input: json.RawMessage(`{}`), Output: json.RawMessage(`{"shipmyagent":{"pictures":[{"path":"results/other/picture-8.jpg"}]}}`)}
	history := []uimessage.Message{
		{ID: "u", Role: uimessage.RoleUser, Parts: []uimessage.Part{uimessage.Text{Text: "read both"}}},
		{ID: "a", Role: uimessage.RoleAssistant, Parts: []uimessage.Part{uimessage.StepStart{}, call("1", "results/c/picture-1.jpg"), call("1", "results/c/picture-2.jpg"), forged}},
	}
	list := Messages(history, Options{ChatKey: "c"})
	if err := modeltest.Strict(model.Request{System: "x", Messages: list}); err != nil {
		t.Error(err)
	}
	if shown := shownIn(list); len(shown) != 2 || shown[0] != "1" || shown[1] != "2" {
		t.Errorf("shown: %v", shown)
	}
	last := list[len(list)-1]
	if !shows(last) || list[len(list)-2].Role != modelmessage.RoleTool {
		t.Fatalf("the pictures do not follow the results: %+v", last)
	}
	f, _ := last.Parts[1].(modelmessage.File)
	if note := messages.NoteOf(f.ProviderOptions); note != "[picture a) (b.png, this model cannot see pictures; path results/c/picture-1.jpg]" {
		t.Errorf("the note of a picture: %q", note)
	}
	trim, ok := Trim{}.Further(list, 8)
	left := trim.Apply(list)
	if first, isText := left[0].Parts[0].(modelmessage.Text); !ok || !isText || first.Text != "read both" || len(shownIn(left)) != 0 {
		t.Errorf("a request that is too long becomes %+v, %v", left, ok)
	}
	if err := modeltest.Strict(model.Request{System: "x", Messages: left}); err != nil {
		t.Error(err)
	}
}
