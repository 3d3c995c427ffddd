package actors_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// deaf fetches files like a host whose speech service fails.
func deaf(p *post) func(context.Context, messages.ChatKey, uimessage.Message) []uimessage.Part {
	return func(ctx context.Context, key messages.ChatKey, turn uimessage.Message) []uimessage.Part {
		var out []uimessage.Part
		for _, part := range p.fetch(ctx, key, turn) {
			if f, ok := platform.FileOf(part); ok {
				f.NoTranscript = "server"
				part = f.Part()
			}
			if text, ok := part.(uimessage.Text); ok && strings.HasPrefix(text.Text, "words of ") {
				part = uimessage.Text{Text: "[its words are not known]"}
			}
			out = append(out, part)
		}
		return out
	}
}

func deafWorld(t *testing.T, p *post, script *modeltest.Script) *actortest.World {
	t.Helper()
	o := actortest.Options{Store: newStore(t), Model: script}
	o.Chat.Fetch = deaf(p)
	return actortest.New(t, o)
}

// told counts the texts in a chat about a voice message that could not be transcribed.
func told(w *actortest.World) int {
	n := 0
	for _, text := range w.Platform.Texts(alice) {
		if strings.Contains(text, "could not listen") || strings.Contains(text, "语音") {
			n++
		}
	}
	return n
}

// A voice message that cannot be transcribed is answered by the host, without a model; the next run knows about it.
func TestVoiceNobodyUnderstood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, script := &post{}, modeltest.NewScript(modeltest.Say("Hello."))
		w := deafWorld(t, p, script)
		close(p.gate("a"))
		accept(t, w, withFile(w, "", "a", ""))
		w.Wait()
		if n := len(script.Requests()); n != 0 || told(w) != 1 {
			t.Errorf("%d requests, told %d times: %q", n, told(w), w.Platform.Texts(alice))
		}
		atRest(t, w, 1)
		w = w.Again(nil)
		w.Say(alice, "alice", "hello")
		w.Wait()
		raw, err := json.Marshal(script.Requests())
		if err != nil || !strings.Contains(string(raw), "could not listen") || len(script.Requests()) != 1 {
			t.Errorf("the model was asked %d times, %v: %s", len(script.Requests()), err, raw)
		}
		if told(w) != 1 {
			t.Errorf("told %d times", told(w))
		}
		atRest(t, w, 2)
	})
}

// If it has a caption, or other messages follow, the model answers those, and the sender is still informed, once.
func TestVoiceNobodyUnderstoodAmongOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, script := &post{}, modeltest.NewScript(modeltest.Say("Both."), modeltest.Say("Seen."))
		w := deafWorld(t, p, script)
		accept(t, w, withFile(w, "", "a", ""))
		w.Say(alice, "alice", "and this")
		close(p.gate("a"))
		w.Wait()
		stdtest.Diff(t, "turns", []string{"[a]|[its words are not known]", "and this"}, turns(w.View(alice)))
		if n := len(script.Requests()); n != 1 || told(w) != 1 {
			t.Errorf("%d requests, told %d times", n, told(w))
		}
		close(p.gate("b"))
		accept(t, w, withFile(w, "这是什么", "b", ""))
		w.Wait()
		if n := len(script.Requests()); n != 2 || told(w) != 2 || !strings.Contains(strings.Join(w.Platform.Texts(alice), "\n"), "语音识别服务暂时不可用") {
			t.Errorf("%d requests, told %d times: %q", n, told(w), w.Platform.Texts(alice))
		}
		atRest(t, w, 3)
	})
}

// After a crash before the turn is final, it is transcribed again. After a later crash, nobody is informed twice.
func TestVoiceNobodyUnderstoodAndACrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, script := &post{}, modeltest.NewScript()
		w := deafWorld(t, p, script)
		accept(t, w, withFile(w, "", "a", ""))
		w = w.Again(nil)
		w.Wait()
		if len(p.asked) != 2 || told(w) != 0 {
			t.Errorf("asked %d times, told %d times before anybody knows", len(p.asked), told(w))
		}
		close(p.gate("a"))
		w.Wait()
		w = w.Again(nil)
		w.Wait()
		if len(p.asked) != 2 || told(w) != 1 {
			t.Errorf("asked %d times, told %d times", len(p.asked), told(w))
		}
		atRest(t, w, 1)
	})
}

// Dropping a waiting message also ends fetching its file.
func TestStopAllEndsFetching(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate, ended := make(chan struct{}), make(chan struct{})
		defer close(gate)
		script := modeltest.NewScript(modeltest.CallTools(modeltest.Call{ID: "c1", Name: "look", Input: "{}"}))
		o := actortest.Options{Store: newStore(t), Model: script, Tools: actortest.Tools(actortest.Slow("look", gate))}
		o.Chat.Fetch = func(ctx context.Context, _ messages.ChatKey, turn uimessage.Message) []uimessage.Part {
			<-ctx.Done()
			close(ended)
			return turn.Parts
		}
		w := actortest.New(t, o)
		w.Say(alice, "alice", "look")
		w.Wait()
		accept(t, w, withFile(w, "", "a", ""))
		stop := w.Inbound(alice, "alice", "")
		stop.Kind, stop.Command = platform.KindCommand, platform.Command{Name: "stop", Args: "all"}
		began := time.Now()
		accept(t, w, stop)
		<-ended
		if waited := time.Since(began); waited > time.Second {
			t.Errorf("the fetch ended after %v", waited)
		}
		w.Wait()
		atRest(t, w, 3)
	})
}

// The same words with another file are another message. A repeated call sends it once.
func TestFilesWithoutWordsAreNoDuplicates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		speak := actortest.Func{Says: tool.Spec{Name: "speak", Repeatable: true, Ordered: true}, Do: func(ctx context.Context, call tool.Call) (tool.Result, error) {
			var in struct{ Path string }
			if err := json.Unmarshal(call.Input, &in); err != nil {
				return tool.Result{}, err
			}
			d, err := call.Egress.Send(ctx, call.ID, tool.Outgoing{Files: []messages.FileRef{{Path: in.Path, Kind: "voice", Spoken: "hello"}}})
			if err != nil {
				return tool.Result{}, err
			}
			return tool.Result{Output: json.RawMessage(`"` + d.Skipped + `"`)}, nil
		}}
		call := func(id, path string) modeltest.Call {
			return modeltest.Call{ID: id, Name: "speak", Input: `{"path":"/` + path + `"}`}
		}
		script := modeltest.NewScript(modeltest.CallTools(call("c1", "a"), call("c2", "b"), call("c3", "a")), modeltest.Say("Spoken."))
		w := actortest.New(t, actortest.Options{
			Store: newStore(t), Model: script, Tools: actortest.Tools(speak),
			Platform: &actortest.Platform{Caps: platform.Capabilities{Outbox: true, ToolEgress: true}},
		})
		w.Say(alice, "alice", "speak")
		w.Wait()
		if got := w.Platform.Texts(alice); len(got) != 2 {
			t.Errorf("sent %d messages, want two voices and no text behind them: %q", len(got), got)
		}
		atRest(t, w, 1)
	})
}
