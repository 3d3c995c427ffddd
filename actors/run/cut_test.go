package run_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/apitest"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/model/provider"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// api is a protocol. An answer is complete after the event that contains stop.
type api struct {
	name string
	api  provider.API
	stop string
}

func apis() []api {
	return []api{
		{apitest.Chat, provider.APIChat, `"finish_reason":"`},
		{apitest.Messages, provider.APIMessages, `"stop_reason":"`},
		{apitest.Responses, provider.APIResponses, `"type":"response.completed"`},
	}
}

// pays is a model that thinks, speaks and calls a tool twice, and then reports.
func pays(req model.Request) []model.Event {
	last := req.Messages[len(req.Messages)-1]
	switch text, _ := json.Marshal(last); { // it always encodes
	case last.Role == modelmessage.RoleTool:
		return slices.Concat(modeltest.ReasoningEvents("It ", "worked."), modeltest.TextEvents("Pa", "id."), []model.Event{modeltest.Finish("stop")})
	case strings.Contains(string(text), "and now?"):
		return append(modeltest.TextEvents("Nothing."), modeltest.Finish("stop"))
	}
	events := slices.Concat(modeltest.ReasoningEvents("I ", "should."), modeltest.TextEvents("I will ", "pay."))
	for _, n := range []string{"1", "2"} {
		id := "toolu_" + n
		events = append(events,
			model.Event{Kind: model.EventToolInputStart, ID: id, ToolName: "pay"},
			model.Event{Kind: model.EventToolInputDelta, ID: id, Delta: `{"n"`},
			model.Event{Kind: model.EventToolInputDelta, ID: id, Delta: ":" + n + "}"},
			model.Event{Kind: model.EventToolInputEnd, ID: id})
	}
	return append(events, modeltest.Finish("tool-calls"))
}

// pay is a tool with an effect, which counts how often it was started.
func pay(times *atomic.Int32) tool.Tool {
	return actortest.Func{Says: tool.Spec{Name: "pay"}, Do: func(context.Context, tool.Call) (tool.Result, error) {
		times.Add(1)
		return tool.Result{Output: json.RawMessage(`"paid"`)}, nil
	}}
}

func drafts() *actortest.Platform {
	return &actortest.Platform{Caps: platform.Capabilities{Outbox: true, Drafts: true}}
}

// cutter passes on the beginning of an answer.
type cutter struct {
	http.ResponseWriter
	left     int
	then     func()           // is called in place of the first byte behind it
	sent     *strings.Builder // what was passed on
	comments int              // are sent before it, each followed by 10 s of silence
}

func (c *cutter) Write(b []byte) (int, error) {
	for ; c.comments > 0; c.comments-- {
		sse(c.ResponseWriter, ": wait\n\n")
		<-time.After(10 * time.Second)
	}
	n := min(len(b), c.left)
	c.left -= n
	c.sent.Write(b[:n])
	_, _ = c.ResponseWriter.Write(b[:n]) // the client may be gone
	if then := c.then; n < len(b) && then != nil {
		c.then = nil
		_ = http.NewResponseController(c.ResponseWriter).Flush()
		then()
	}
	return len(b), nil
}

// Unwrap is used by [http.ResponseController].
func (c *cutter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// cut ends answers after a number of bytes.
type cut struct {
	answers []int // which of them, from 1; none means all
	at      int
	then    func(r *http.Request)
	slow    int // the answer that begins with nothing but comments for 50 s; 0 means none
}

// breakOff waits long enough for a draft and then closes the connection, or ends the answer as if it
// were complete.
func breakOff(orderly bool) func(*http.Request) {
	return func(*http.Request) {
		<-time.After(2 * time.Second)
		if !orderly {
			panic(http.ErrAbortHandler)
		}
	}
}

// hold keeps the connection open until the client leaves.
func hold(r *http.Request) { <-r.Context().Done() }

// till is a chat with a model that pays.
type till struct {
	*actortest.World
	service *service
	script  *modeltest.Script
	paid    atomic.Int32
	sent    [8]strings.Builder // answers, from 1
}

// with runs a test in a bubble with a chat, whose model pays and whose answers are cut.
func (a api) with(t *testing.T, c cut, test func(t *testing.T, l *till)) {
	t.Helper()
	t.Run(fmt.Sprint(a.name, c.answers, c.at), func(t *testing.T) { a.bubble(t, modeltest.NewFunc(pays), c, test) })
}

// bubble runs a test in a bubble with a chat. Then it checks every request: the service accepted it, no
// input of a call is incomplete, and something follows all thinking.
func (a api) bubble(t *testing.T, script *modeltest.Script, c cut, test func(t *testing.T, l *till)) {
	t.Helper()
	l := &till{script: script}
	server, _ := apitest.Start(t, a.name, l.script, "")
	t.Cleanup(func() {
		if faults := server.Faults(); len(faults) > 0 {
			t.Errorf("the service refused: %v", faults)
		}
		for _, req := range l.script.Requests() {
			for _, m := range req.Messages {
				checkMessage(t, m)
			}
		}
	})
	synctest.Test(t, func(t *testing.T) {
		l.service = newProvider(t, func(w http.ResponseWriter, r *http.Request, n int) {
			out := &cutter{ResponseWriter: w, left: math.MaxInt, sent: &l.sent[n]}
			if len(c.answers) == 0 || slices.Contains(c.answers, n) {
				out.left, out.then = c.at, func() { c.then(r) }
			}
			if n == c.slow {
				out.comments = 5
			}
			server.ServeHTTP(out, r)
		})
		thinking := provider.Thinking{Type: "enabled", Budget: 1024}
		m := l.service.model(t, provider.Options{Endpoint: provider.Endpoint{API: a.api, Settings: provider.Settings{Thinking: thinking}}})
		l.World = newWorld(t, actortest.Options{Model: m, Platform: drafts(), Tools: actortest.Tools(pay(&l.paid))})
		test(t, l)
	})
}

func checkMessage(t *testing.T, m modelmessage.Message) {
	t.Helper()
	for i, p := range m.Parts {
		if call, ok := p.(modelmessage.ToolCall); ok && string(call.Input) != `{"n":1}` && string(call.Input) != `{"n":2}` {
			t.Errorf("a request has the input %s", call.Input)
		}
		if thought, ok := p.(modelmessage.Reasoning); ok && i == len(m.Parts)-1 {
			t.Errorf("nothing follows the thinking %q", thought.Text)
		}
	}
}

// stored are the messages of a chat without what differs each time.
func (l *till) stored() []string {
	var out []string
	for _, m := range l.View(alice).Messages {
		said := uimessage.Message{Role: m.Role}
		for _, p := range m.Parts {
			switch part := p.(type) {
			case uimessage.Text:
				part.ProviderMetadata = nil
				p = part
			case uimessage.Reasoning:
				part.ID, part.ProviderMetadata = uimessage.Optional[string]{}, nil
				p = part
			case uimessage.Tool:
				part.CallProviderMetadata, part.ResultProviderMetadata = nil, nil
				p = part
			case uimessage.File, uimessage.SourceURL, uimessage.SourceDocument, uimessage.Data, uimessage.StepStart, uimessage.Unknown:
			}
			said.Parts = append(said.Parts, p)
		}
		out = append(out, string(uimessage.AppendJSON(nil, said)))
	}
	return out
}

// uncut is a chat without a cut: its answers and what is stored.
func (a api) uncut(t *testing.T) (sent, stored []string) {
	t.Helper()
	a.with(t, cut{at: math.MaxInt}, func(t *testing.T, l *till) {
		t.Helper()
		l.Say(alice, "alice", "pay")
		<-time.After(time.Minute)
		v := l.View(alice)
		if diff := gocmp.Diff([]string{"I will pay.\nPaid. = done "}, answers(v.Messages)); diff != "" {
			t.Errorf("answers (-want +got):\n%s", diff)
		}
		if diff := gocmp.Diff([]string{`pay output-available "paid"`, `pay output-available "paid"`}, outcomes(v.Messages)); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
		sent, stored = []string{l.sent[1].String(), l.sent[2].String()}, l.stored()
	})
	return sent, stored
}

// ends are the lengths of an answer's beginnings that are whole events.
func ends(answer string) []int {
	out := []int{0}
	for event := range strings.SplitAfterSeq(answer, "\n\n") {
		out = append(out, out[len(out)-1]+len(event))
	}
	return out[:len(out)-1]
}

// points are positions in an answer: the ends of events and some between, or with SOAK set every byte.
func points(answer string) []int {
	step := len(answer) / 10
	if os.Getenv("SOAK") != "" {
		step = 1
	}
	out := ends(answer)
	for at := 0; at < len(answer); at += step {
		out = append(out, at)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// whole reports whether a beginning of an answer has the whole event with a text. At an orderly end it
// needs no empty line.
func whole(answer string, at int, text string, orderly bool) bool {
	i := strings.Index(answer, text)
	if orderly {
		at += len("\n\n")
	}
	return i >= 0 && at >= i+strings.Index(answer[i:], "\n\n")+len("\n\n")
}

// An answer that is cut at any position is requested again, and nothing before it: every call runs
// once, the history is as without the cut, and nothing else is visible in the chat.
func TestRL1CutAnywhereThenWhole(t *testing.T) {
	eachCut(t, func(t *testing.T, a api, n int, sent, stored []string) {
		t.Helper()
		for i, at := range points(sent[n-1]) {
			a.with(t, cut{answers: []int{n}, at: at, then: breakOff(i%2 == 0)}, func(t *testing.T, l *till) {
				t.Helper()
				l.Say(alice, "alice", "pay")
				<-time.After(time.Minute)
				if diff := gocmp.Diff(stored, l.stored()); diff != "" {
					t.Errorf("stored (-want +got):\n%s", diff)
				}
				if texts := l.Platform.Texts(alice); len(texts) != 1 || !strings.HasSuffix(texts[0], "Paid.") {
					t.Errorf("in the chat stands %q", texts)
				}
				want := 3
				if whole(sent[n-1], at, a.stop, i%2 == 0) {
					want = 2
				}
				if asked := len(l.service.times()); l.paid.Load() != 2 || asked != want {
					t.Errorf("paid %d times in %d requests, want %d", l.paid.Load(), asked, want)
				}
			})
		}
	})
}

// A run that is stopped at any event of an answer does nothing more, and the next message is answered.
func TestRL1StopAnywhere(t *testing.T) {
	eachCut(t, func(t *testing.T, a api, n int, sent, _ []string) {
		t.Helper()
		for _, at := range ends(sent[n-1]) {
			a.with(t, cut{answers: []int{n}, at: at, then: hold}, func(t *testing.T, l *till) {
				t.Helper()
				l.Say(alice, "alice", "pay")
				<-time.After(time.Second)
				l.Say(alice, "alice", "/stop")
				<-time.After(time.Minute)
				asked, paid := n, 2*int32(n-1)
				if at == len(sent[n-1]) {
					asked, paid = 2, 2 // there was nothing to stop
				}
				if got := len(l.service.times()); got != asked || l.paid.Load() != paid {
					t.Errorf("paid %d times in %d requests, want %d in %d", l.paid.Load(), got, paid, asked)
				}
				l.Say(alice, "alice", "and now?")
				<-time.After(time.Minute)
				v := l.View(alice)
				said := answers(v.Messages)
				if v.Running || v.Counts.Open != 0 || said[len(said)-1] != "Nothing. = done " || len(l.service.times()) != asked+1 {
					t.Errorf("running %t, %d open, answers %q in %d requests", v.Running, v.Counts.Open, said, len(l.service.times()))
				}
				for _, call := range outcomes(v.Messages) {
					if call != `pay output-available "paid"` {
						t.Errorf("a call is stored as %s", call)
					}
				}
			})
		}
	})
}

// eachCut runs a test for each protocol and each of the two answers to a person who wants to pay.
func eachCut(t *testing.T, test func(t *testing.T, a api, n int, sent, stored []string)) {
	t.Helper()
	for _, a := range apis() {
		sent, stored := a.uncut(t)
		for n := 1; n <= 2; n++ {
			test(t, a, n, sent, stored)
		}
	}
}

// If the provider reports an overload in the middle of an answer, the run waits as long as the
// provider asks, and the answer starts again.
func TestRL3OverloadInTheStream(t *testing.T) {
	for _, a := range apis() {
		for _, reason := range []model.Reason{model.ReasonOverloaded, model.ReasonRate} {
			busy := modeltest.Step{Text: []string{"Hel"}, Err: &model.Error{Reason: reason, Message: "Too busy, please retry in 7s"}}
			t.Run(a.name+" "+string(reason), func(t *testing.T) {
				a.bubble(t, modeltest.NewScript(busy, busy, modeltest.Say("Hello.")), cut{at: math.MaxInt}, func(t *testing.T, l *till) {
					t.Helper()
					l.Say(alice, "alice", "hi")
					<-time.After(time.Minute)
					if diff := gocmp.Diff([]string{"Hello."}, l.Platform.Texts(alice)); diff != "" {
						t.Errorf("sent (-want +got):\n%s", diff)
					}
					times := l.service.times()
					for i := 1; i < len(times); i++ {
						if wait := times[i].Sub(times[i-1]); wait < 7*time.Second || wait > 8*time.Second {
							t.Errorf("asked again after %v", wait)
						}
					}
					if len(times) != 3 {
						t.Errorf("%d requests, want 3", len(times))
					}
				})
			})
		}
	}
}

// An answer that is always cut ends with a notice and nothing else: no partial text is stored as an
// answer or left visible as one, and no call has run.
func TestRL1CutForEver(t *testing.T) {
	for _, a := range apis() {
		sent, _ := a.uncut(t)
		for i, at := range points(sent[0]) {
			if whole(sent[0], at, a.stop, true) {
				break
			}
			a.with(t, cut{at: at, then: breakOff(i%2 == 0)}, func(t *testing.T, l *till) {
				t.Helper()
				l.Say(alice, "alice", "pay")
				<-time.After(5 * time.Minute)
				v := l.View(alice)
				if v.Running || v.Counts.Open != 0 || l.paid.Load() != 0 || len(outcomes(v.Messages)) != 0 {
					t.Errorf("running %t, %d open, paid %d times, calls %q", v.Running, v.Counts.Open, l.paid.Load(), outcomes(v.Messages))
				}
				if got := answers(v.Messages); len(got) != 1 || !strings.HasPrefix(got[0], " = failed ") {
					t.Errorf("stored %q", got)
				}
				if texts := l.Platform.Texts(alice); len(texts) != 1 || !strings.Contains(texts[0], "it broke off") {
					t.Errorf("in the chat stands %q", texts)
				}
				// If words arrived there was a draft, and the notice replaces it.
				if whole(sent[0], at, "I will ", false) && l.Platform.Sent()[0].Edits == 0 {
					t.Errorf("there was no draft")
				}
				// The run makes 4 requests after cuts, the model client 6 before a first word.
				if n := len(l.service.times()); n < 4 || n > 6 {
					t.Errorf("%d requests", n)
				}
			})
		}
	}
}

// A stream that pauses after its first words is cut at the idle deadline, to the second, and
// requested again; one that sends comments has until firstByteS.
func TestRL2SilenceInTheMiddle(t *testing.T) {
	for _, a := range apis() {
		sent, stored := a.uncut(t)
		words := slices.IndexFunc(ends(sent[0]), func(at int) bool { return whole(sent[0], at, "I will ", false) })
		a.with(t, cut{answers: []int{1}, at: ends(sent[0])[words], then: hold, slow: 2}, func(t *testing.T, l *till) {
			t.Helper()
			l.Say(alice, "alice", "pay")
			<-time.After(time.Hour)
			if diff := gocmp.Diff(stored, l.stored()); diff != "" || l.paid.Load() != 2 {
				t.Errorf("paid %d times, stored (-want +got):\n%s", l.paid.Load(), diff)
			}
			times := l.service.times()
			if len(times) != 3 {
				t.Fatalf("%d requests, want 3: %v", len(times), times)
			}
			// The deadline, and the jitter of a first retry.
			if after := times[1].Sub(times[0]); after < 120*time.Second || after >= 121*time.Second {
				t.Errorf("asked again after %v", after)
			}
			if after := times[2].Sub(times[1]); after < 50*time.Second {
				t.Errorf("the second answer took %v, want the 50 s of its comments", after)
			}
		})
	}
}
