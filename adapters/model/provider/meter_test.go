package provider

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// book is a meter that admits a number of requests.
type book struct {
	admits int
	most   []Use
	used   []Use
	open   int

	cheaper string
	refuses string // the model that a limit refuses
	told    bool
}

func (b *book) Cheaper() string { return b.cheaper }

func (b *book) ToTell(model.Payer, string) bool {
	first := !b.told
	b.told = true
	return first
}

func (b *book) Reserve(_ context.Context, payer model.Payer, name string, most func() Use) (func(Use), error) {
	if payer.Chat != "web-chat-1" || !strings.HasPrefix(name, "model-") {
		return nil, errors.New("a request of nobody")
	}
	if len(b.most) == b.admits || name == b.refuses {
		return nil, &model.Error{Reason: model.ReasonBudget("runTokens", false), Message: "enough"}
	}
	b.most = append(b.most, most())
	b.open++
	return func(u Use) { b.open--; b.used = append(b.used, u) }, nil
}

// wire answers requests one after the other: with a status, an answer in pieces, or an error.
type wire struct {
	answers []wired
	calls   int
}

type wired struct {
	status int // 0: the connection fails
	unsent bool
	pieces []string
	hangs  bool // after the pieces
	cut    bool
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	a := w.answers[w.calls]
	w.calls++
	if a.unsent {
		return nil, errors.New("no such host")
	}
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return nil, err
	}
	if a.status == 0 {
		return nil, errors.New("connection reset")
	}
	header := http.Header{"Content-Type": {"text/event-stream"}}
	if a.status != http.StatusOK {
		header.Set("Content-Type", "application/json")
	}
	read, write := io.Pipe()
	go func() {
		for _, p := range a.pieces {
			if _, err := io.WriteString(write, p); err != nil {
				return
			}
		}
		switch {
		case a.hangs:
			<-r.Context().Done()
			_ = write.CloseWithError(r.Context().Err())
		case a.cut:
			_ = write.CloseWithError(io.ErrUnexpectedEOF)
		default:
			_ = write.Close()
		}
	}()
	return &http.Response{StatusCode: a.status, Header: header, Body: read, Request: r}, nil
}

const (
	saysTen  = `data: {"choices":[{"index":0,"delta":{"content":"0123456789"}}]}` + "\n\n"
	stops    = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	saysDone = "data: [DONE]\n\n"
	counts   = `data: {"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":7,"total_tokens":110,"prompt_tokens_details":{"cached_tokens":40}}}` + "\n\n"
	saysNo   = `{"error":{"message":"no"}}`
	responds = `data: {"type":"response.completed","response":{"id":"r","object":"response","status":"completed","output":[{"id":"m","type":"message","role":"assistant","content":[{"type":"output_text","text":"0123456789"}]}],"usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":30,"cache_write_tokens":20},"output_tokens":6,"total_tokens":106}}}` + "\n\n"
	starts   = "event: message_start\n" + `data: {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","content":[],"model":"m","usage":{"input_tokens":50,"cache_creation_input_tokens":20,"cache_read_input_tokens":30,"output_tokens":1}}}` + "\n\n"
	textTen  = "event: content_block_start\n" + `data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}` + "\n\nevent: content_block_delta\n" + `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"0123456789"}}` + "\n\n"
	textEnds = "event: content_block_stop\n" + `data: {"type":"content_block_stop","index":0}` + "\n\nevent: message_delta\n" + `data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":6}}` + "\n\nevent: message_stop\n" + `data: {"type":"message_stop"}` + "\n\n"
)

func TestEveryRequestIsSettled(t *testing.T) {
	ok := wired{status: 200, pieces: []string{saysTen, stops, counts, saysDone}}
	counted := Use{100, 40, 10, 60 + 4 + 100} // the service counts reasoning in the total only
	// A text of 100 bytes is estimated as 50 tokens, and the 10 bytes that arrived as 5.
	estimated := Use{50, 0, 5, 100}
	unanswered := Use{50, 0, 0, 50}
	busy := wired{status: 503, pieces: []string{saysNo}}
	for _, tt := range []struct {
		name    string
		api     API
		answers []wired
		admits  int
		stop    bool // the reader stops at the first word
		cancel  time.Duration
		want    []Use
		reason  model.Reason
	}{
		{name: "a whole answer", answers: []wired{ok}, want: []Use{counted}},
		{name: "nothing reported", answers: []wired{{status: 200, pieces: []string{saysTen, stops, saysDone}}}, want: []Use{estimated}},
		{name: "cut", answers: []wired{{status: 200, pieces: []string{saysTen}, cut: true}}, want: []Use{estimated}, reason: model.ReasonCut},
		{name: "the reader stops", answers: []wired{{status: 200, pieces: []string{saysTen}, hangs: true}}, stop: true, want: []Use{estimated}},
		{name: "stopped from outside", answers: []wired{{status: 200, pieces: []string{saysTen}, hangs: true}}, cancel: time.Second, want: []Use{estimated}, reason: model.ReasonInternal},
		{name: "silent", answers: []wired{{status: 200, hangs: true}}, want: []Use{unanswered}, reason: model.ReasonIdle},
		{name: "refused, then answered", answers: []wired{busy, busy, ok}, want: []Use{{}, {}, counted}},
		{name: "a gateway gives up, then answered", answers: []wired{{status: 504, pieces: []string{saysNo}}, ok}, want: []Use{unanswered, counted}},
		{name: "reset after it was sent", answers: []wired{{}, ok}, want: []Use{unanswered, counted}},
		{name: "never sent", answers: []wired{{unsent: true}, ok}, want: []Use{{}, counted}},
		{name: "the fallback answers", answers: []wired{{status: 401, pieces: []string{saysNo}}, ok}, want: []Use{{}, counted}},
		{name: "a limit refuses", admits: -1, reason: model.ReasonBudget("runTokens", false)},
		{name: "a limit refuses the retry", answers: []wired{busy}, admits: 1, want: []Use{{}}, reason: model.ReasonBudget("runTokens", false)},
		{name: "a limit refuses the fallback", answers: []wired{{status: 401, pieces: []string{saysNo}}}, admits: 1, want: []Use{{}}, reason: model.ReasonBudget("runTokens", false)},
		{name: "a part is written to the cache", answers: []wired{{status: 200, pieces: []string{saysTen, stops, strings.Replace(counts, `"cached_tokens":40`, `"cached_tokens":40,"cache_write_tokens":20`, 1), saysDone}}}, want: []Use{{100, 40, 10, 40 + 4 + 40 + 100}}},
		{name: "responses, a part is written to the cache", api: APIResponses, answers: []wired{{status: 200, pieces: []string{responds}}}, want: []Use{{100, 30, 6, 50 + 3 + 40 + 60}}},
		{name: "messages", api: APIMessages, answers: []wired{{status: 200, pieces: []string{starts, textTen, textEnds}}}, want: []Use{{100, 30, 6, 50 + 3 + 40 + 60}}},
		{name: "messages, nothing at the end", api: APIMessages, answers: []wired{{status: 200, pieces: []string{starts, textTen, strings.Replace(textEnds, `"output_tokens":6`, `"input_tokens":0,"output_tokens":6`, 1)}}}, want: []Use{{100, 30, 6, 50 + 3 + 40 + 60}}},
		{name: "messages, cut", api: APIMessages, answers: []wired{{status: 200, pieces: []string{starts, textTen}, cut: true}}, want: []Use{{100, 30, 5, 50 + 3 + 40 + 50}}, reason: model.ReasonCut},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &book{admits: tt.admits}
				if tt.admits == 0 {
					b.admits = 10
				}
				b.admits = max(0, b.admits)
				// In tenths of what one token of input costs.
				cost := func(input, cached, written, output int64) int64 {
					return input - cached - written + cached/10 + 2*written + 10*output
				}
				at := func(name string) Endpoint {
					return Endpoint{API: tt.api, BaseURL: "https://a.test/v1", APIKey: "k", Model: name, Cost: cost}
				}
				o := Options{Endpoint: at("model-1"), Transport: &wire{answers: tt.answers}, Meter: b, FirstByteTimeout: time.Minute}
				if strings.Contains(tt.name, "fallback") {
					o.Fallbacks = []Endpoint{at("model-2")}
				}
				m := newModel(t, o)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if tt.cancel > 0 {
					time.AfterFunc(tt.cancel, cancel)
				}
				req := model.Request{
					System: strings.Repeat("s", 90), Payer: model.Payer{Chat: "web-chat-1"},
					Messages: []modelmessage.Message{{Role: modelmessage.RoleUser, Parts: []modelmessage.Part{modelmessage.Text{Text: "0123456789"}}}},
				}
				var failed error
				for ev, err := range m.Stream(ctx, req) {
					failed = err
					if tt.stop && ev.Kind == model.EventTextDelta {
						break
					}
				}
				if reason := model.ReasonOf(failed); failed == nil && tt.reason != "" || failed != nil && reason != tt.reason {
					t.Errorf("failed with %v, want %q", failed, tt.reason)
				}
				if diff := cmp.Diff(tt.want, b.used); diff != "" || b.open != 0 {
					t.Errorf("%d are open; used (-want +got):\n%s", b.open, diff)
				}
				if most := (Use{50, 0, unboundedOutput, 100 + 10*unboundedOutput}); slices.ContainsFunc(b.most, func(u Use) bool { return u != most }) {
					t.Errorf("reserved %v, want %v", b.most, most)
				}
				if skipped := m.Health()[0]; tt.admits == -1 && skipped.Skipped > 0 {
					t.Error("a limit counts against the model")
				}
			})
		})
	}
}

// What a limit keeps a model from, the cheaper model answers, and says so once. What it cannot answer stays refused.
func TestCheaperAnswers(t *testing.T) {
	ok := wired{status: 200, pieces: []string{saysTen, stops, counts, saysDone}}
	at := func(name string) Endpoint { return Endpoint{BaseURL: "https://a.test/v1", APIKey: "k", Model: name} }
	b := &book{admits: 10, refuses: "model-1", cheaper: "small"}
	w := &wire{answers: []wired{ok, ok, ok, {status: 401, pieces: []string{saysNo}}}}
	m, err := NewChoices(Options{Endpoint: at("model-1"), Transport: w, Meter: b, Logger: slog.New(slog.DiscardHandler)}, []Choice{{"small", at("model-2")}, {"other", at("model-3")}})
	stdtest.Must(t, err)
	ask := func(name string, work model.Work) (told []string, failed error) {
		for ev, err := range m.Stream(t.Context(), model.Request{
			Model: name, Effort: "high", Payer: model.Payer{Chat: "web-chat-1", Work: work},
			Messages: []modelmessage.Message{{Role: modelmessage.RoleUser, Parts: []modelmessage.Part{modelmessage.Text{Text: "hi"}}}},
		}) {
			if failed = err; ev.Kind == model.EventCheaper {
				told = append(told, ev.Delta+" "+ev.ID)
			}
		}
		return told, failed
	}
	for i, tt := range []struct {
		name string
		work model.Work
		told []string
	}{{"", model.WorkMemory, nil}, {"", model.WorkRun, []string{"runTokens model-2"}}, {"", model.WorkRun, nil}} {
		if told, err := ask(tt.name, tt.work); err != nil || !slices.Equal(told, tt.told) {
			t.Errorf("request %d: told %q, %v", i, told, err)
		}
	}
	b.refuses = "model-2"
	if _, err := ask("small", model.WorkRun); model.ReasonOf(err) != model.ReasonBudget("runTokens", false) || w.calls != 3 {
		t.Errorf("when the cheaper model is refused: %v after %d calls", err, w.calls)
	}
	b.refuses = "model-1"
	if _, err := ask("", model.WorkRun); model.ReasonOf(err) != model.ReasonAuth {
		t.Errorf("when the cheaper model fails: %v", err)
	}
	b.refuses, b.cheaper = "model-1", ""
	if _, err := ask("", model.WorkRun); model.ReasonOf(err) != model.ReasonBudget("runTokens", false) {
		t.Errorf("without a cheaper model: %v", err)
	}
}

// Estimates follow what the service has counted, and bounds of an answer are reserved.
func TestEstimates(t *testing.T) {
	m := newModel(t, Options{Endpoint: Endpoint{Model: "m", Settings: Settings{OutputLimit: 3000}}})
	e := m.endpoints[0]
	file := modelmessage.Message{Role: modelmessage.RoleUser, Parts: []modelmessage.Part{modelmessage.Image{Image: strings.Repeat("i", 1<<20)}}}
	req := model.Request{System: strings.Repeat("s", 8000), Messages: []modelmessage.Message{file}}
	if got := e.estimate(req); got != 4000+fileTokens {
		t.Errorf("unknown: %d", got)
	}
	for range 20 {
		e.learn(req, 2000+fileTokens)
	}
	if got := e.estimate(req); got != 2000+fileTokens {
		t.Errorf("known: %d", got)
	}
	e.learn(model.Request{System: "short"}, 500)
	e.learn(req, 100_000)
	if got := e.estimate(req); got != 8000+fileTokens {
		t.Errorf("at most a token for each byte: %d", got)
	}
	for limit, want := range map[int]int64{0: 3000, 1000: 1000, 5000: 3000} {
		if got := e.mostOutput(model.Request{MaxOutputTokens: limit}); got != want {
			t.Errorf("at most %d of output are requested, %d reserved, want %d", limit, got, want)
		}
	}
}
