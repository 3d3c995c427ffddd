package telegram_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/platformtest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegram"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

const hookSecret = "a-secret_of-32-characters-000000"

// hooked returns a bot with a webhook, and the URL at which it is served.
func hooked(t *testing.T, secret string) (b *bench, host *platformtest.Host, root string) {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	stdtest.Must(t, err)
	b = newBench(t, func(o *telegram.Options) {
		o.StateDir = t.TempDir()
		o.Webhook = &telegram.Webhook{URL: "https://bot.example/hook/telegram", Secret: func() string { return secret }, Listener: l}
	})
	host = platformtest.NewHost()
	b.receive(t, host)
	host.AwaitUp(t)
	return b, host, "http://" + l.Addr().String()
}

// request is a request to a webhook; zero fields have correct values.
type request struct {
	method, path, kind string
	secret             []string
	body               string
	reader             io.Reader
}

func (r request) send(t *testing.T, root string) int {
	t.Helper()
	set := func(s *string, usual string) {
		if *s == "" {
			*s = usual
		}
	}
	set(&r.method, http.MethodPost)
	set(&r.path, "/hook/telegram")
	set(&r.kind, "application/json")
	if r.reader == nil {
		r.reader = strings.NewReader(r.body)
	}
	req, err := http.NewRequestWithContext(t.Context(), r.method, root+r.path, r.reader)
	stdtest.Must(t, err)
	req.Header.Set("Content-Type", r.kind)
	for _, s := range r.secret {
		req.Header.Add(telegramtest.SecretHeader, s)
	}
	req.Close = true
	resp := exchange(t, req)
	defer resp.Body.Close() //nolint:errcheck // nothing was written
	if text, _ := io.ReadAll(resp.Body); len(text) > 0 {
		t.Errorf("the answer says %q", text)
	}
	return resp.StatusCode
}

// exchange sends a request and returns the response, which is read while the request is still being
// written: a client of net/http may report that the server closed the connection in place of the
// response that refused a long body.
func exchange(t *testing.T, req *http.Request) *http.Response {
	t.Helper()
	var d net.Dialer
	conn, err := d.DialContext(t.Context(), "tcp", req.URL.Host)
	stdtest.Must(t, err)
	t.Cleanup(func() { _ = conn.Close() }) // the server may have closed it
	go func() { _ = req.Write(conn) }()    // what the server does not read may fail to be written
	resp, err := http.ReadResponse(bufio.NewReader(conn), req)
	stdtest.Must(t, err)
	return resp
}

func textUpdate(id int, text string) string {
	return fmt.Sprintf(`{"update_id":%d,"message":{"message_id":%d,"date":1700000000,"chat":{"id":77,"type":"private"},"from":{"id":77,"first_name":"Ann"},"text":%q}}`, id, id, text)
}

// endless returns a body that never provides anything.
func endless(t *testing.T) io.Reader {
	t.Helper()
	r, w := io.Pipe()
	t.Cleanup(func() { _ = w.Close() }) // it never fails
	return r
}

// TestIO4Webhook sends thirty requests. Without the secret nothing is read or handed over; a replay
// is recognized.
func TestIO4Webhook(t *testing.T) {
	b, host, root := hooked(t, hookSecret)
	good, update := []string{hookSecret}, textUpdate(1, "first")
	for i, c := range []struct {
		name  string
		r     request
		want  int
		taken int // in total so far
	}{
		{"no secret", request{body: update}, 401, 0},
		{"no secret and a body that never comes", request{reader: endless(t)}, 401, 0},
		{"no secret, broken body", request{body: "{"}, 401, 0},
		{"no secret, another path", request{path: "/", body: update}, 401, 0},
		{"no secret, another method", request{method: http.MethodGet}, 401, 0},
		{"empty secret", request{secret: []string{""}, body: update}, 401, 0},
		{"wrong secret", request{secret: []string{"wrong"}, body: update}, 401, 0},
		{"wrong secret and a body that never comes", request{secret: []string{"wrong"}, reader: endless(t)}, 401, 0},
		{"secret cut", request{secret: []string{hookSecret[:31]}, body: update}, 401, 0},
		{"secret with more", request{secret: []string{hookSecret + "0"}, body: update}, 401, 0},
		{"secret in capitals", request{secret: []string{strings.ToUpper(hookSecret)}, body: update}, 401, 0},
		{"secret with one bit wrong", request{secret: []string{hookSecret[:31] + "1"}, body: update}, 401, 0},
		{"secret twice", request{secret: []string{hookSecret, hookSecret}, body: update}, 401, 0},
		{"a wrong one, then the right one", request{secret: []string{"wrong", hookSecret}, body: update}, 401, 0},
		{"both in one line", request{secret: []string{"wrong, " + hookSecret}, body: update}, 401, 0},
		{"the bot's token as secret", request{secret: []string{b.api.Token()}, body: update}, 401, 0},
		{"secret in the address", request{path: "/hook/telegram?secret_token=" + hookSecret, body: update}, 401, 0},
		{"another path", request{secret: good, path: "/other", body: update}, 404, 0},
		{"a path below", request{secret: good, path: "/hook/telegram/x", body: update}, 404, 0},
		{"another method", request{secret: good, method: http.MethodGet}, 405, 0},
		{"a form", request{secret: good, kind: "application/x-www-form-urlencoded", body: update}, 415, 0},
		{"no JSON", request{secret: good, body: "<html>"}, 400, 0},
		{"JSON that ends early", request{secret: good, body: update[:len(update)-1]}, 400, 0},
		{"two updates", request{secret: good, body: update + "," + update}, 400, 0},
		{"no update", request{secret: good, body: `{"message":{"text":"x"}}`}, 400, 0},
		{"too long", request{secret: good, body: textUpdate(1, strings.Repeat("x", 1<<20))}, 413, 0},
		{"too long, of unknown length", request{secret: good, reader: io.MultiReader(strings.NewReader(textUpdate(1, strings.Repeat("x", 1<<20))))}, 413, 0},
		{"an update that cannot be read", request{secret: good, body: `{"update_id":9,"message":{"message_id":"x"}}`}, 200, 0},
		{"good", request{secret: good, body: update}, 200, 1},
		{"replayed", request{secret: good, body: update}, 200, 1},
	} {
		if got := c.r.send(t, root); got != c.want || len(host.Accepted()) != c.taken {
			t.Errorf("%d %s: answered %d, want %d; %d messages are taken, want %d", i, c.name, got, c.want, len(host.Accepted()), c.taken)
		}
	}
	if offered := len(host.Offered()); offered != 2 {
		t.Errorf("%d messages were handed over, want the good one and its replay", offered)
	}
	if log := b.log.String(); strings.Contains(log, hookSecret) {
		t.Errorf("the secret is in the log: %s", log)
	}
}

func TestWebhookIsSet(t *testing.T) {
	t.Run("with the secret", func(t *testing.T) {
		b, _, _ := hooked(t, hookSecret)
		p := b.api.Calls("setWebhook")[0].Params
		if b.api.Webhook() != "https://bot.example/hook/telegram" || b.api.Secret() != hookSecret ||
			p.Text("allowed_updates") != `["message","edited_message","channel_post","edited_channel_post","callback_query","my_chat_member"]` {
			t.Errorf("set with %v", p)
		}
		if n := len(b.api.Calls("getUpdates")); n != 0 {
			t.Errorf("polled %d times", n)
		}
	})
	t.Run("with a secret of its own", func(t *testing.T) {
		b, host, root := hooked(t, "")
		if len(b.api.Secret()) < 20 {
			t.Fatalf("the secret is %q", b.api.Secret())
		}
		if code, err := b.api.Bring(t.Context(), nil, root+"/hook/telegram", []byte(textUpdate(1, "hi"))); err != nil || code != http.StatusOK {
			t.Errorf("%d, %v", code, err)
		}
		host.AwaitAccepted(t, 1)
	})
	t.Run("after trouble", func(t *testing.T) {
		var lc net.ListenConfig
		l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
		stdtest.Must(t, err)
		b := newBench(t, func(o *telegram.Options) { o.Webhook = &telegram.Webhook{URL: "https://bot.example/", Listener: l} })
		b.api.Fail(telegramtest.Fault{Method: "getMe", Kind: faketest.ResetBefore, N: 2})
		b.api.Fail(telegramtest.Fault{Method: "setWebhook", Kind: faketest.Refuse, Code: http.StatusBadRequest, Text: "Bad Request: bad webhook", N: 2})
		host := platformtest.NewHost()
		b.receive(t, host)
		host.AwaitUp(t)
		var notes []string
		for _, s := range host.States() {
			notes = append(notes, s.Note)
		}
		stdtest.Diff(t, "states", []string{"the server cannot be reached", "the server refuses the webhook: Bad Request: bad webhook", ""}, notes)
	})
	t.Run("token refused", func(t *testing.T) {
		var lc net.ListenConfig
		l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
		stdtest.Must(t, err)
		b := newBench(t, func(o *telegram.Options) { o.Webhook = &telegram.Webhook{URL: "https://bot.example/", Listener: l} })
		b.api.Fail(telegramtest.Fault{Method: "setWebhook", Kind: faketest.Refuse, Code: http.StatusUnauthorized, Text: "Unauthorized"})
		if err := b.bot.Receive(t.Context(), platformtest.NewHost()); !errors.Is(err, telegram.ErrToken) {
			t.Errorf("got %v", err)
		}
	})
}

// TestWebhookWhileAChatTakesNothing checks that what one chat refuses is set aside and
// acknowledged; the chat gets it once it accepts messages again, also in the next process.
func TestWebhookWhileAChatTakesNothing(t *testing.T) {
	b, host, root := hooked(t, hookSecret)
	host.Refuse(func(in platform.Inbound) error {
		if in.Chat.ID == "77" {
			return platform.ErrUnavailable
		}
		return nil
	})
	for i, text := range []string{"one", "two"} {
		if code, err := b.api.Bring(t.Context(), nil, root+"/hook/telegram", []byte(textUpdate(i+1, text))); err != nil || code != http.StatusOK {
			t.Errorf("%d, %v", code, err)
		}
	}
	if n := len(host.Accepted()); n != 0 {
		t.Fatalf("%d are taken", n)
	}
	host.Refuse(nil)
	stdtest.Diff(t, "", []string{"one", "two"}, texts(host.AwaitAccepted(t, 2)))
}

func TestWebhookOptions(t *testing.T) {
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	stdtest.Must(t, err)
	defer l.Close() //nolint:errcheck // it took no connection
	for _, c := range []struct {
		name string
		hook telegram.Webhook
		want string
	}{
		{"http", telegram.Webhook{URL: "http://bot.example/", Listener: l}, "https"},
		{"no host", telegram.Webhook{URL: "https:///x", Listener: l}, "https"},
		{"no listener", telegram.Webhook{URL: "https://bot.example/"}, "listener"},
		{"secret", telegram.Webhook{URL: "https://bot.example/", Listener: l, Secret: func() string { return "with space CANARY" }}, "secret"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := telegram.New(telegram.Options{Token: func() string { return "1:x" }, Webhook: &c.hook, BotOptions: platform.BotOptions{Access: platform.AccessOpen}})
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "CANARY") {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// FuzzWebhookBody checks that any body with the correct secret gets one of a few statuses and does
// not end the receiver.
func FuzzWebhookBody(f *testing.F) {
	f.Add([]byte(textUpdate(1, "hi")))
	f.Add([]byte(`{"update_id":1},{"update_id":2}`))
	f.Add([]byte(`null`))
	pipe := faketest.NewPipe(f)
	api := telegramtest.NewAPIInProcess(f)
	bot, err := telegram.New(telegram.Options{
		BotOptions: platform.BotOptions{
			BaseURL: api.URL(), HTTPClient: api.Client(), Access: platform.AccessOpen,
		},
		Token: api.Token, Groups: platform.GroupsAll, Webhook: &telegram.Webhook{URL: "https://bot.example/", Listener: pipe},
	})
	stdtest.Must(f, err)
	host := platformtest.NewHost()
	done := make(chan error, 1)
	go func() { done <- bot.Receive(f.Context(), host) }()
	f.Cleanup(func() {
		if err := <-done; err != nil {
			f.Error(err)
		}
	})
	host.AwaitUp(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		code, err := api.Bring(t.Context(), pipe.Client(), "http://bot.example/", bytes.Clone(body))
		if err != nil || !slices.Contains([]int{200, 400, 413}, code) {
			t.Errorf("%d, %v", code, err)
		}
	})
}

// TestWebhookOfSlowBodies checks that incomplete bodies, more than the capacity for work and all
// from the address of the proxy, block no update.
func TestWebhookOfSlowBodies(t *testing.T) {
	b, host, root := hooked(t, hookSecret)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // ends hangs before the server's limits
	defer cancel()
	head := http.Header{telegramtest.SecretHeader: {hookSecret}, "Content-Type": {"application/json"}}
	var slow []<-chan int
	for range 128 {
		slow = append(slow, faketest.SlowBody(t, ctx, strings.TrimPrefix(root, "http://"), "/hook/telegram", head))
	}
	began := time.Now()
	if code, err := b.api.Bring(ctx, nil, root+"/hook/telegram", []byte(textUpdate(1, "first"))); err != nil || code != http.StatusOK {
		t.Fatalf("beside slow bodies: answered %d, %v", code, err)
	}
	t.Logf("soak: row=IO4 slow=%d answered=%v", len(slow), time.Since(began))
	if n := len(host.Accepted()); n != 1 {
		t.Errorf("%d messages are taken", n)
	}
	for _, s := range slow {
		if code := <-s; code != http.StatusRequestTimeout {
			t.Errorf("a body that does not come is answered %d", code)
		}
	}
}
