package loop_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/shipmyagent/shipmyagent/actors/internal/loop"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/anthropictest"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/model/provider"
	"github.com/shipmyagent/shipmyagent/adapters/model/responsestest"
	"github.com/shipmyagent/shipmyagent/messages/conformancetest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// recorded is a protocol whose recorded answers are sent back.
type recorded struct {
	api    provider.API
	strict func(body []byte) error
	// said is what an answer says that a request can repeat, in the words of repeated. It is read from
	// the objects that were recorded, without the parsers of the protocols.
	said func(objects []object) []string
	// repeated is what a request says of the model.
	repeated func(body object) []string
}

type object = map[string]any

func recordedProtocols() map[string]recorded {
	return map[string]recorded{
		"chat":      {provider.APIChat, modeltest.StrictBody, chatSaid, chatRepeated},
		"messages":  {provider.APIMessages, anthropictest.StrictBody, messagesSaid, messagesRepeated},
		"responses": {provider.APIResponses, responsestest.StrictBody, responsesSaid, responsesRepeated},
	}
}

// TestRecordedAnswersComeBack plays answers that services have recorded or documented, and some that
// have everything that a protocol can carry. Each becomes a message as it is stored, and the next
// request repeats all of it: texts, refusals, inputs of tools, and thinking with its signature or its
// encrypted content, byte for byte.
func TestRecordedAnswersComeBack(t *testing.T) {
	root := filepath.Join("..", "..", "..", "adapters", "model", "provider", "testdata", "streams")
	for name, protocol := range recordedProtocols() {
		var files []string
		for _, pattern := range []string{"sdk-*", "spec-*", "thinking-*", "reasoning-*", "refusal*", "citation*", "in-one-piece", "parallel-calls", "gemini", "deepseek"} {
			found, err := filepath.Glob(filepath.Join(root, name, pattern+".txtar"))
			stdtest.Must(t, err)
			files = append(files, found...)
		}
		if len(files) == 0 {
			t.Fatalf("no answers of %s", name)
		}
		for _, file := range files {
			t.Run(name+"/"+strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
				archive, err := txtar.ParseFile(file)
				stdtest.Must(t, err)
				protocol.comesBack(t, archive.Files[0].Data)
			})
		}
	}
}

func (p recorded) comesBack(t *testing.T, answer []byte) {
	t.Helper()
	service := &playback{answer: answer}
	m, err := provider.New(provider.Options{Endpoint: provider.Endpoint{API: p.api, Model: "m"}, MaxAttempts: 1, Transport: service})
	stdtest.Must(t, err)
	history := []uimessage.Message{{ID: "u1", Role: uimessage.RoleUser, Parts: []uimessage.Part{uimessage.Text{Text: "hi"}, document()}}}
	stored := answered(t, m, history)
	if want, got := sources(answer), countSources(stored); got != want {
		t.Errorf("the message has %d sources, want %d", got, want)
	}
	history = append(history, stored, uimessage.Message{ID: "u2", Role: uimessage.RoleUser, Parts: []uimessage.Part{uimessage.Text{Text: "go on"}}})
	for _, err := range m.Stream(t.Context(), requestOf(t, history)) {
		if err != nil {
			t.Error(err)
		}
	}
	body := service.bodies[1]
	if err := p.strict(body); err != nil {
		t.Errorf("the service refuses the next request: %v", err)
	}
	said := p.said(objectsOf(answer))
	if len(said) == 0 {
		t.Error("the answer says nothing")
	}
	if diff := cmp.Diff(said, p.repeated(decoded(body))); diff != "" {
		t.Errorf("the next request repeats (-said +repeated):\n%s", diff)
	}
}

// playback is a service that gives the same answer to each request.
type playback struct {
	answer []byte
	bodies [][]byte
}

func (p *playback) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	p.bodies = append(p.bodies, body)
	header := http.Header{"Content-Type": {"text/event-stream"}}
	return &http.Response{StatusCode: http.StatusOK, Header: header, Body: io.NopCloser(bytes.NewReader(p.answer)), Request: r}, err
}

// document is what an answer may cite.
func document() uimessage.Part {
	return uimessage.File{MediaType: "application/pdf", Filename: uimessage.Some("doc.pdf"), URL: "data:application/pdf;base64," + base64.StdEncoding.EncodeToString([]byte("%PDF-1.4\n%%EOF"))}
}

// answered is the answer to a history, as it is read from storage. Its calls have results.
func answered(t *testing.T, m model.Model, history []uimessage.Message) uimessage.Message {
	t.Helper()
	var events []model.Event
	cfg := loop.Config{MessageID: "a1", SendSources: true, NewID: func() string { return fmt.Sprint("id", len(events)) }}
	for e, err := range m.Stream(t.Context(), requestOf(t, history)) {
		stdtest.Must(t, err)
		if e.Kind == model.EventToolCall {
			cfg.Tools = append(cfg.Tools, loop.Tool{Name: e.ToolName})
		}
		events = append(events, e)
	}
	l := loop.New(cfg)
	chunks, _ := l.Begin(history)
	for _, e := range events {
		chunks = l.AppendEvent(chunks, e)
	}
	out := l.EndStream(nil)
	chunks = append(chunks, out.Chunks...)
	for _, c := range out.Calls {
		chunks = append(chunks, l.ToolOutput(c.ID, json.RawMessage(`"found"`), false)...)
	}
	closed, _ := l.EndStep()
	writer := uistream.NewWriter(nil, "a1")
	for _, c := range slices.Concat(chunks, closed, l.Finish()) {
		if _, err := writer.Apply(c); err != nil {
			t.Fatal(err)
		}
	}
	var stored []uimessage.Message
	stdtest.Must(t, json.Unmarshal(append(append([]byte{'['}, uimessage.AppendJSON(nil, writer.Snapshot())...), ']'), &stored))
	return stored[0]
}

func requestOf(t *testing.T, history []uimessage.Message) model.Request {
	t.Helper()
	list, err := conformancetest.Convert(history, conformancetest.Options{})
	stdtest.Must(t, err)
	return model.Request{Messages: list}
}

// objectsOf returns the objects of an answer: of its events, or the only one.
func objectsOf(answer []byte) (list []object) {
	if bytes.HasPrefix(bytes.TrimSpace(answer), []byte("{")) {
		return []object{decoded(answer)}
	}
	for line := range bytes.Lines(answer) {
		if data, ok := bytes.CutPrefix(line, []byte("data: {")); ok {
			list = append(list, decoded(append([]byte{'{'}, data...)))
		}
	}
	return list
}

func decoded(b []byte) (o object) {
	_ = json.Unmarshal(b, &o) // what is no object says nothing, which the tests notice
	return o
}

// in returns a member of nested objects, and of the elements of lists.
func in[T any](o object, path ...string) (v T) {
	for _, name := range path[:len(path)-1] {
		o, _ = o[name].(object)
	}
	v, _ = o[path[len(path)-1]].(T)
	return v
}

func each(o object, name string, f func(o object)) {
	for _, v := range in[[]any](o, name) {
		element, _ := v.(object)
		f(element)
	}
}

// compact is a JSON text without white space: what is stored has none.
func compact(text string) string {
	var b bytes.Buffer
	if text == "" || json.Compact(&b, []byte(text)) != nil {
		return "{}"
	}
	return b.String()
}

// sources counts the citations of an answer that a message can have.
func sources(answer []byte) int {
	seen := 0
	for _, o := range objectsOf(answer) {
		whole := in[object](o, "response")
		if o["object"] == "response" {
			whole = o
		}
		each(whole, "output", func(item object) {
			each(item, "content", func(part object) {
				each(part, "annotations", func(a object) {
					if a["type"] == "url_citation" || a["type"] == "file_citation" {
						seen++
					}
				})
			})
		})
		if in[string](o, "delta", "type") == "citations_delta" {
			seen++
		}
	}
	return seen
}

func countSources(m uimessage.Message) (n int) {
	for _, part := range m.Parts {
		switch part.(type) {
		case uimessage.SourceURL, uimessage.SourceDocument:
			n++
		default:
		}
	}
	return n
}
