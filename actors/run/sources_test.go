package run_test

import (
	"encoding/json"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// TestSourcesAreKept: what a model cites is part of its message in the history.
func TestSourcesAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, actortest.Options{Model: modeltest.NewScript(modeltest.Step{Do: func(model.Request) []model.Event {
			sources := []model.Event{
				{Kind: model.EventSource, Raw: json.RawMessage(`{"sourceType":"url","id":"s1","url":"https://tea.test/","title":"Tea"}`)},
				{Kind: model.EventSource, Raw: json.RawMessage(`{"sourceType":"document","id":"s2","mediaType":"application/pdf","title":"Cups"}`)},
			}
			return slices.Concat(sources, modeltest.TextEvents("As said there."), []model.Event{modeltest.Finish("stop")})
		}})})
		w.Say(alice, "alice", "tea?")
		<-time.After(time.Minute)
		list := w.View(alice).Messages
		var got []uimessage.Part
		for _, p := range list[len(list)-1].Parts {
			switch p.(type) {
			case uimessage.SourceURL, uimessage.SourceDocument:
				got = append(got, p)
			default:
			}
		}
		want := []uimessage.Part{
			uimessage.SourceURL{SourceID: "s1", URL: "https://tea.test/", Title: uimessage.Some("Tea")},
			uimessage.SourceDocument{SourceID: "s2", MediaType: "application/pdf", Title: "Cups"},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		stdtest.Diff(t, "in the chat", []string{"As said there."}, w.Platform.Texts(alice))
	})
}
