package actors_test

import (
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// A repeated request with its Idempotency-Key gets the same answer and makes no second turn: after a restart, after the
// chat was passivated, and if the process was killed before the first request was answered.
func TestScenarioIdempotencyKeyIsDurable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScenario(t, newStore(t))
		s.o.Idle = time.Minute
		s.model.Otherwise = &modeltest.Step{Do: obvious}
		post := func(key, text string) string {
			p, err := web.New(web.Options{Open: true, Live: s.world().Port, Info: func() web.Info { return web.Info{} }})
			stdtest.Must(t, err)
			defer p.Close()
			body := `{"id":"c1","message":{"role":"user","parts":[{"type":"text","text":"` + text + `"}]}}`
			req := httptest.NewRequestWithContext(t.Context(), "POST", "http://127.0.0.1/api/chat", strings.NewReader(body))
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Idempotency-Key", key)
			w := httptest.NewRecorder()
			func() {
				defer func() { _ = recover() }() // how a handler cuts a stream
				p.Handler().ServeHTTP(w, req)
			}()
			s.w.Wait()
			return w.Body.String()
		}
		id := func(stream string) string {
			_, rest, _ := strings.Cut(stream, `"messageId":"`)
			id, _, _ := strings.Cut(rest, `"`)
			return id
		}
		s.key = "web-chat-c1"
		first := post("k1", "hi")
		if id(first) == "" {
			t.Fatalf("answered %s", first)
		}
		for _, happens := range []string{"advance 1s", "kill", "advance 10m", "kill 20m"} {
			s.play(happens)
			if again := post("k1", "hi"); id(again) != id(first) {
				t.Errorf("after %s answered %s, first %s", happens, again, first)
			}
		}
		s.store.set(func(f *faulty) { f.crash, f.after = "history", true })
		_ = post("k2", "again") // nobody hears of it: the process dies when the turn is durable
		s.play("kill")
		if got := post("k2", "again"); id(got) == "" || id(got) == id(first) {
			t.Errorf("after the crash answered %s", got)
		}
		if v := s.w.View(s.key); v.Counts.Accepted != 2 || len(s.model.Requests()) != 2 {
			t.Errorf("accepted %+v with %d requests to the model, want two of each", v.Counts, len(s.model.Requests()))
		}
	})
}
