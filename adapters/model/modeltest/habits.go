package modeltest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// habit is a way in which real servers differ from the careful fakes, and how an answer with it is read.
type habit struct {
	name string
	// says is the model's answer; the default is [habitStep].
	says *Step
	// sends makes the answer from the events of the careful server; the default sends them. A habit
	// without it is one of [Service.Habits].
	sends func(events []WireEvent) Raw
	// bare means that the only event is sent as JSON.
	bare bool
	// cut means that the connection is closed within the chunks of HTTP after the events.
	cut bool
	// heard is the expected reading, with "NEW" for ids that are not the server's; the default is everything.
	heard []string
	// uncounted means that the answer has no usage.
	uncounted bool
	// begun means that something is read that is not in heard.
	begun bool
	fails failing
}

type failing struct {
	reason    model.Reason
	status    int
	retryable bool
	wait      time.Duration // that the server asks for
}

// again reports whether a client that may retry does so at once. This is so if nothing was read, except with a server
// that stays silent.
func (h habit) again() bool {
	return h.fails.retryable && h.fails.wait == 0 && h.fails.reason != model.ReasonIdle && len(h.heard) == 0 && !h.begun
}

// rocket is a character of four bytes.
const rocket = "🚀"

// habitStep has everything that an answer can have.
func habitStep() Step {
	in, out := int64(7), int64(5)
	return Step{
		Reasoning: []string{"I ", "think"}, Text: []string{"Grüße, ", rocket + " <b>"}, Usage: model.Usage{InputTokens: &in, OutputTokens: &out},
		Calls: []Call{{ID: "toolu_1", Name: "look", Input: `{"q":"1 <\"2\">"}`}, {ID: "toolu_2", Name: "look", Input: `{"q":"x"}`}},
	}
}

func habitAnswer() []string {
	return []string{"reasoning I think", "text Grüße, " + rocket + " <b>", `call toolu_1 look {"q":"1 <\"2\">"}`, `call toolu_2 look {"q":"x"}`, "finish tool-calls"}
}

// habitRequest contains an earlier call, whose id no other call may have.
func habitRequest() model.Request {
	req := suiteRequest()
	req.Messages = append(req.Messages,
		modelmessage.Message{Role: modelmessage.RoleAssistant, Parts: []modelmessage.Part{modelmessage.ToolCall{ToolCallID: "toolu_old", ToolName: "look", Input: []byte("{}")}}},
		modelmessage.Message{Role: modelmessage.RoleTool, Parts: []modelmessage.Part{modelmessage.ToolResult{ToolCallID: "toolu_old", ToolName: "look", Output: modelmessage.Output{Type: modelmessage.OutputText, Text: "x"}}}},
	)
	return req
}

func allHabits() []habit {
	return slices.Concat(framings(), wordings(), interruptions(), streamedErrors(), refusals())
}

// habits tests every habit that the protocol can have, and its retry if there is one.
func (s Service) habits(t *testing.T) {
	all := allHabits()
	for name := range s.Habits {
		if !slices.ContainsFunc(all, func(h habit) bool { return h.name == name && h.sends == nil }) {
			t.Errorf("%q is no habit of a protocol", name)
		}
	}
	for _, h := range all {
		if h.sends == nil && s.Habits[h.name] == nil {
			continue // the protocol cannot have it
		}
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			send := h.sends
			if send == nil {
				send = s.changed(t, h)
			}
			s.habit(t, h, send)
			if h.again() {
				s.secondTry(t, h, send)
			}
		})
	}
}

func (s Service) changed(t *testing.T, h habit) func([]WireEvent) Raw {
	t.Helper()
	return func(events []WireEvent) Raw {
		with := s.Habits[h.name](slices.Clone(events))
		if slices.Equal(events, with) {
			t.Error("nothing was changed")
		}
		if h.bare {
			return Raw{Type: "application/json", Body: with[0].Data}
		}
		d := plain(with)
		if h.cut {
			d.end = endCut
		}
		return d
	}
}

func plain(events []WireEvent) Raw { return Raw{Body: encodeEvents(events)} }

func (h habit) wantHeard() []string {
	if h.fails.reason == "" && h.heard == nil {
		return habitAnswer()
	}
	return h.heard
}

// habit tests how an answer with a habit is read.
func (s Service) habit(t *testing.T, h habit, send func([]WireEvent) Raw) {
	t.Helper()
	idle := time.Minute
	switch {
	case h.fails.reason != model.ReasonIdle:
	case h.heard == nil:
		idle = 20 * time.Millisecond // nothing arrives within ten times as long
	default:
		idle = 200 * time.Millisecond
	}
	m, _ := s.through(t, h, send, 1, idle)
	c := counted{Model: m}
	got, err := listen(t.Context(), &c, habitRequest())
	if diff := gocmp.Diff(h.wantHeard(), named(got)); diff != "" {
		t.Errorf("heard (-want +got):\n%s", diff)
	}
	if h.fails.reason == "" {
		stdtest.Must(t, err)
		if isCounted := c.usage.InputTokens != nil && c.usage.OutputTokens != nil; isCounted == h.uncounted {
			t.Errorf("counted: %t, want %t", isCounted, !h.uncounted)
		}
		return
	}
	e, _ := errors.AsType[*model.Error](err)
	if e == nil {
		t.Fatalf("ended with %v, want %s", err, h.fails.reason)
	}
	// If the server gives a date, the remaining time has become shorter.
	is := failing{e.Reason, e.Status, e.Retryable, (e.RetryAfter + time.Second - 1).Truncate(time.Second)}
	if is.wait < h.fails.wait && is.wait > h.fails.wait/2 {
		is.wait = h.fails.wait
	}
	if is != h.fails {
		t.Errorf("failed with %+v (%v), want %+v", is, err, h.fails)
	}
}

// secondTry tests that a client that may retry gets the second answer.
func (s Service) secondTry(t *testing.T, h habit, send func([]WireEvent) Raw) {
	t.Helper()
	m, asked := s.through(t, h, send, 2, time.Minute)
	got, err := listen(t.Context(), m, habitRequest())
	if diff := gocmp.Diff([]string{"text again", "finish stop"}, got); diff != "" || asked.Load() != 2 {
		t.Errorf("asked %d times, %v (-want +got):\n%s", asked.Load(), err, diff)
	}
}

// through starts a careful server, and in front of it one that has the habit, at least in its first answer.
func (s Service) through(t *testing.T, h habit, send func([]WireEvent) Raw, attempts int, idle time.Duration) (model.Model, *atomic.Int32) {
	t.Helper()
	step := habitStep()
	if h.says != nil {
		usage := step.Usage
		step = *h.says
		step.Usage = usage
	}
	origin, faults := s.Start(t, NewScript(step, Say("again")), suiteKey)
	asked := new(atomic.Int32)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		events, err := askOrigin(r, origin)
		if err != nil {
			t.Errorf("the careful server: %v", err)
		}
		deliver := send
		if asked.Add(1) > 1 {
			deliver = plain
		}
		deliver(events).Play(w, r)
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		if list := faults(); len(list) > 0 {
			t.Errorf("requests that the service refuses: %v", list)
		}
	})
	return s.Client(t, server.URL+"/v1", suiteKey, attempts, idle), asked
}

func askOrigin(r *http.Request, origin string) ([]WireEvent, error) {
	req, err := http.NewRequestWithContext(r.Context(), r.Method, strings.TrimSuffix(origin, "/v1")+r.URL.Path, r.Body)
	if err != nil {
		return nil, err //nolint:wrapcheck // only a test reads it
	}
	req.Header = r.Header.Clone()
	req.Header.Del("Accept-Encoding")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err //nolint:wrapcheck // only a test reads it
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", resp.Status, body)
	}
	return parseEvents(string(body)), err
}

// counted is a model whose last usage is kept.
type counted struct {
	model.Model
	usage model.Usage
}

func (c *counted) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		for e, err := range c.Model.Stream(ctx, req) {
			if e.Kind == model.EventFinish {
				c.usage = e.Usage
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// named replaces the ids of calls that are not the server's.
func named(heard []string) []string {
	for i, line := range heard {
		id, rest, _ := strings.Cut(strings.TrimPrefix(line, "call "), " ")
		if strings.HasPrefix(line, "call ") && !slices.Contains([]string{"toolu_1", "toolu_2"}, id) {
			heard[i] = "call NEW " + rest
		}
	}
	return heard
}
