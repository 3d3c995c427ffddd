package run_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/model/provider"
	"github.com/shipmyagent/shipmyagent/adapters/platform/platformtest"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// A request that a provider refuses permanently is made once and reported once, in people's own
// language, in helpful words; what the provider said is only in the log, without keys.
func TestRL4OneNotice(t *testing.T) {
	for _, tt := range []struct {
		status int
		code   string
		en, zh string // words of the notice
	}{
		{401, "invalid_api_key", "llm.apiKey", "密钥"},
		{403, "forbidden", "llm.apiKey", "密钥"},
		{402, "no_credit", "balance", "余额"},
		{429, "insufficient_quota", "balance", "余额"},
		{404, "model_not_found", "llm.model", "llm.model"},
		{400, "content_filter", "refused to answer", "拒绝回答"},
		{400, "unknown_field", "refused this request", "拒绝了这个请求"},
		{422, "unknown_field", "refused this request", "拒绝了这个请求"},
	} {
		for _, chinese := range []bool{false, true} {
			t.Run(fmt.Sprint(tt.status, tt.code, chinese), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := newProvider(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
						w.WriteHeader(tt.status)
						_, _ = fmt.Fprintf(w, `{"error":{"code":%q,"message":"gibberish from afar about %s"}}`, tt.code, key)
					})
					var log platformtest.Log
					w := newWorld(t, actortest.Options{Model: p.model(t, provider.Options{}), Log: slog.New(slog.NewTextHandler(&log, nil))})
					said, want := "hi", tt.en
					if chinese {
						said, want = "你好", tt.zh
					}
					w.Say(alice, "alice", said)
					<-time.After(10 * time.Minute)
					texts := w.Platform.Texts(alice)
					if len(texts) != 1 || !strings.Contains(texts[0], want) {
						t.Errorf("in the chat stands %q, want one notice with %q", texts, want)
					}
					if n := len(p.times()); n != 1 {
						t.Errorf("%d requests, want 1", n)
					}
					v := w.View(alice)
					shown := strings.Join(texts, "") + string(uimessage.AppendJSON(nil, v.Messages[len(v.Messages)-1]))
					if strings.Contains(shown, "gibberish") || strings.Contains(shown, key) {
						t.Errorf("the provider's words are in %s", shown)
					}
					if strings.Contains(log.String(), key) || !strings.Contains(log.String(), "gibberish") {
						t.Errorf("the log holds the key, or not the reason:\n%s", log.String())
					}
				})
			})
		}
	}
}

// small is a model that accepts a limited number of bytes of conversation. It makes the planned calls, and otherwise
// answers with a word.
type small struct {
	most  atomic.Int64
	calls atomic.Int64 // still to make

	mu    sync.Mutex
	asked []int // sizes
	sent  [][]byte
}

func (s *small) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	body, err := json.Marshal(req.Messages)
	if err != nil {
		return modeltest.NewScript(modeltest.Fail(err)).Stream(ctx, req)
	}
	s.mu.Lock()
	s.asked, s.sent = append(s.asked, len(body)), append(s.sent, body)
	s.mu.Unlock()
	step := modeltest.Say("short")
	if int64(len(body)) > s.most.Load() {
		step = modeltest.Fail(&model.Error{Reason: model.ReasonTooLong, Status: 400, Message: "context_length_exceeded"})
	} else if n := s.calls.Add(-1); n >= 0 {
		step = modeltest.CallTools(modeltest.Call{ID: fmt.Sprint("c", n), Name: "look", Input: fmt.Sprintf(`{"n":%d}`, n)})
	}
	return modeltest.NewScript(step).Stream(ctx, req)
}

// since returns the requests from the n-th on.
func (s *small) since(n int) [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.sent[n:])
}

// talk fills a chat: six exchanges, each with a call that returns 4 KB. It ends with a limit below
// the size of the conversation.
func talk(t *testing.T, most int64) (*actortest.World, *small, int) {
	t.Helper()
	m := &small{}
	m.most.Store(1 << 30)
	look := actortest.Func{Says: tool.Spec{Name: "look"}, Do: func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Result{Output: json.RawMessage(`{"rows":"` + strings.Repeat("x", 4000) + `"}`)}, nil
	}}
	w := newWorld(t, actortest.Options{Model: m, Tools: actortest.Tools(look)})
	for i := range 6 {
		m.calls.Store(1)
		w.Say(alice, "alice", fmt.Sprint("question ", i, " ", strings.Repeat("w", 500)))
		<-time.After(time.Second)
	}
	m.most.Store(most)
	return w, m, len(m.since(0))
}

// A conversation that the model refuses as too long is shortened once, and once more, and then
// there is a notice. The stored history does not change.
func TestRL5TooLong(t *testing.T) {
	for _, tt := range []struct {
		name     string
		most     int64
		requests int
		answer   string
	}{
		{"fits", 1 << 20, 1, "short"},
		{"fits without the large outputs", 13_000, 2, "short"},
		{"fits with little of it", 4_000, 3, "short"},
		{"never fits", 100, 3, "This conversation has become too long for my model. /compact sums up its older part; then ask again."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, m, before := talk(t, tt.most)
				stored := w.View(alice).Messages
				w.Say(alice, "alice", "the newest question")
				<-time.After(time.Minute)
				sent := m.since(before)
				if len(sent) != tt.requests {
					t.Errorf("%d requests, want %d", len(sent), tt.requests)
				}
				for _, body := range sent {
					if !strings.Contains(string(body), "the newest question") {
						t.Errorf("the newest turn is missing in %s", body)
					}
				}
				if texts := w.Platform.Texts(alice); texts[len(texts)-1] != tt.answer {
					t.Errorf("answered %q, want %q", texts[len(texts)-1], tt.answer)
				}
				now := w.View(alice).Messages
				if diff := cmp.Diff(encoded(stored), encoded(now[:len(stored)])); diff != "" {
					t.Errorf("the history changed (-before +now):\n%s", diff)
				}
				if got := prefixBroken(t, w); got != float64(tt.requests-1) {
					t.Errorf("%v prefixes broken, want %d", got, tt.requests-1)
				}
			})
		})
	}
}

// The chat keeps what was left out: later requests, of the next run too, start with the shortened
// one, and the model does not refuse again. After a rewind, what was cut off no longer counts.
func TestRL5TheChatStaysShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, m, before := talk(t, 20_000)
		m.calls.Store(2)
		w.Say(alice, "alice", "the newest question")
		<-time.After(time.Minute)
		w.Say(alice, "alice", "and another")
		<-time.After(time.Minute)
		sent := m.since(before)
		if len(sent) != 5 || prefixBroken(t, w) != 1 {
			t.Fatalf("%d requests, %v prefixes broken; want one that is too long, three steps and one of the next run", len(sent), prefixBroken(t, w))
		}
		for i := 2; i < len(sent); i++ {
			if head := bytes.TrimSuffix(sent[i-1], []byte("]")); !bytes.HasPrefix(sent[i], head) {
				t.Errorf("request %d does not begin with the one before:\n%s\n%s", i+1, sent[i-1], sent[i])
			}
		}
		v := w.View(alice)
		stdtest.Must(t, w.Port.Rewind(t.Context(), alice, v.Messages[1].ID))
		w.Say(alice, "alice", "after the rewind")
		<-time.After(time.Minute)
		if last := m.since(before + 5); len(last) != 1 || !bytes.Contains(last[0], []byte("question 0")) || bytes.Contains(last[0], []byte("too long")) {
			t.Errorf("after the rewind the model reads %s", last)
		}
	})
}

func encoded(list []uimessage.Message) []string {
	var out []string
	for _, m := range list {
		out = append(out, string(uimessage.AppendJSON(nil, m)))
	}
	return out
}

// prefixBroken counts requests that do not start with the previous one, because that was too long.
func prefixBroken(t *testing.T, w *actortest.World) float64 {
	t.Helper()
	families, err := w.Registry.Gather()
	stdtest.Must(t, err)
	for _, f := range families {
		if f.GetName() != "sma_prompt_prefix_broken_total" {
			continue
		}
		for _, m := range f.GetMetric() {
			if m.GetLabel()[0].GetValue() == "too_long" {
				return m.GetCounter().GetValue()
			}
		}
	}
	return 0
}
