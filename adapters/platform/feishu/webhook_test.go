package feishu_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishu"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishutest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/platformtest"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func said(id string) map[string]any {
	return map[string]any{
		"sender":  map[string]any{"sender_id": map[string]any{"open_id": owner}, "sender_type": "user"},
		"message": map[string]any{"message_id": id, "chat_id": private, "chat_type": "p2p", "message_type": "text", "content": `{"text":"hello"}`, "create_time": "1700000000000"},
	}
}

// TestIO4Feishu checks that requests with a missing or wrong signature, time, token, key or app are
// refused and nothing of them is accepted.
func TestIO4Feishu(t *testing.T) {
	b := newBench(t, false, nil)
	host := platformtest.NewHost()
	b.receive(t, host)
	host.AwaitUp(t)
	now := func(d time.Duration) string { return strconv.FormatInt(b.api.Now().Add(d).Unix(), 10) }
	sealed := func(key string, event []byte) []byte {
		raw, err := json.Marshal(map[string]string{"encrypt": feishutest.Seal(key, event)})
		stdtest.Must(t, err)
		return raw
	}
	event := b.api.EventBody("im.message.receive_v1", said("om_hostile"))
	good, key := sealed(b.api.EncryptKey(), event), b.api.EncryptKey()
	swap := func(from, to string) []byte {
		return sealed(key, bytes.ReplaceAll(event, []byte(from), []byte(to)))
	}
	challenge := func(token string) []byte {
		return sealed(key, fmt.Appendf(nil, `{"challenge":"c","token":%q,"type":"url_verification"}`, token))
	}
	set := func(stamp, nonce, signKey string, body []byte) func(*http.Request) {
		return func(r *http.Request) { feishutest.Sign(r, stamp, nonce, signKey, body) }
	}
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) {
			feishutest.Sign(r, now(0), "n", key, good)
			r.Header[name] = nil
			if value != "" {
				r.Header.Set(name, value)
			}
		}
	}
	for i, x := range []struct {
		body []byte
		with func(*http.Request)
		want int
	}{
		{good, nil, 401},
		{good, header("X-Lark-Signature", ""), 401},
		{good, header("X-Lark-Signature", strings.Repeat("0", 64)), 401},
		{good, header("X-Lark-Signature", "short"), 401},
		{good, header("X-Lark-Request-Nonce", ""), 401},
		{good, header("X-Lark-Request-Nonce", "another"), 401},
		{good, header("X-Lark-Request-Timestamp", ""), 401},
		{good, header("X-Lark-Request-Timestamp", now(time.Minute)), 401},
		{good, set(now(-6*time.Minute), "n", key, good), 401},
		{good, set(now(6*time.Minute), "n", key, good), 401},
		{good, set(now(-24*time.Hour), "n", key, good), 401},
		{good, set(now(24*time.Hour), "n", key, good), 401},
		{good, set("soon", "n", key, good), 401},
		{good, set("", "n", key, good), 401},
		{good, set("99999999999999999999", "n", key, good), 401},
		{good, set(now(0), "n", "another key", good), 401},
		{good, set(now(0), "n", "", good), 401},
		{good, set(now(0), "n", key, event), 401},
		{good, func(r *http.Request) {
			feishutest.Sign(r, now(0), "n", key, good)
			r.Header.Add("X-Lark-Signature", strings.Repeat("0", 64))
		}, 401},
		{event, nil, 401},
		{event, set(now(0), "n", key, event), 400}, // unencrypted
		{sealed("another key", event), nil, 401},
		{swap(b.api.VerificationToken(), "another token"), nil, 401},
		{swap(feishutest.App, "cli_another"), nil, 401},
		{challenge("another token"), nil, 401},
		{[]byte(`{"encrypt":"!"}`), nil, 401},
		{[]byte(`{"encrypt":"AAAA"}`), nil, 401},
		{[]byte(`{"encrypt":""}`), nil, 401},
		{[]byte("{"), nil, 401},
		{bytes.Repeat([]byte("x"), 2<<20), nil, 413},
	} {
		with := x.with
		if with == nil && (i == 22 || i == 23) { // with a valid signature, but of something else
			with = set(now(0), "n", key, x.body)
		}
		if got := b.post(t, x.body, with); got != x.want {
			t.Errorf("request %d: answered %d, want %d", i, got, x.want)
		}
	}
	if n := len(host.Offered()); n != 0 {
		t.Fatalf("%d forged events reached the host", n)
	}
	if got := b.post(t, challenge(b.api.VerificationToken()), nil); got != 200 {
		t.Errorf("the challenge is answered %d", got)
	}
	for range 3 { // replayed: the same request within its time
		if got := b.post(t, good, set(now(0), "n", key, good)); got != 200 {
			t.Errorf("a good request is answered %d", got)
		}
	}
	if n := len(host.Accepted()); n != 1 {
		t.Errorf("a replayed event was taken %d times", n)
	}
}

func (b *bench) post(t *testing.T, body []byte, with func(*http.Request)) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.hook, bytes.NewReader(body))
	stdtest.Must(t, err)
	req.Header.Set("Content-Type", "application/json")
	if with != nil {
		with(req)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil && len(body) > 1<<20 {
		return http.StatusRequestEntityTooLarge // the connection was closed before everything was written
	}
	stdtest.Must(t, err)
	_ = resp.Body.Close()
	return resp.StatusCode
}

// TestIO5Feishu checks that an event is answered once it is durable, regardless of runs. With SOAK
// the 99th of a hundred answers takes at most half a second.
func TestIO5Feishu(t *testing.T) {
	const events = 200
	b := newBench(t, false, nil)
	host := platformtest.NewHost()
	b.receive(t, host)
	host.AwaitUp(t)
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 40, MaxIdleConnsPerHost: 40}}
	t.Cleanup(client.CloseIdleConnections)
	times := make(chan time.Duration, events)
	slots := make(chan struct{}, 40)
	for i := range events {
		body := b.api.EventBody("im.message.receive_v1", said("om_"+strconv.Itoa(i)))
		slots <- struct{}{}
		go func() {
			defer func() { <-slots }()
			began := time.Now()
			if code, _, err := b.api.Bring(t.Context(), client, b.hook, body); err != nil || code != http.StatusOK {
				t.Errorf("answered %d, %v", code, err)
			}
			times <- time.Since(began)
		}()
	}
	var all []time.Duration
	for range events {
		all = append(all, <-times)
	}
	slices.Sort(all)
	p99 := all[events*99/100]
	t.Logf("soak: row=IO5 platform=feishu events=%d p50=%v p99=%v", events, all[events/2], p99)
	if os.Getenv("SOAK") != "" && p99 > 500*time.Millisecond {
		t.Errorf("p99 is %v", p99)
	}
	if n := len(host.Accepted()); n != events {
		t.Errorf("%d of %d taken", n, events)
	}
}

// FuzzEvent sends events of any content with valid signatures: nothing panics, and what is accepted
// has the ids and the key of a chat.
func FuzzEvent(f *testing.F) {
	f.Add(`{"sender":{"sender_id":{"open_id":"ou_1"},"sender_type":"user"},"message":{"message_id":"om_1","chat_id":"oc_1","chat_type":"group","message_type":"post","content":"{\"content\":[[{\"tag\":\"at\",\"user_id\":\"@_user_1\"}]]}","mentions":[{"key":"@_user_1","id":{"open_id":"ou_bot"},"name":"x"}]}}`)
	f.Add(`{"message":{"message_id":"om_1","chat_id":"oc_1","message_type":"text","content":"{\"text\":\"@_user_1 /stop\"}"}}`)
	f.Add(`{"message":null}`)
	f.Fuzz(func(t *testing.T, event string) {
		in, ok := feishu.MapForTest("im.message.receive_v1", []byte(event))
		if !ok {
			return
		}
		if _, err := messages.ParseChatKey(string(in.ChatKey)); err != nil && strings.ToValidUTF8(event, "") == event && !strings.Contains(event, `\u0000`) {
			t.Errorf("chat key %q: %v", in.ChatKey, err)
		}
		if in.IngressID == "" || in.MessageID == "" || in.Chat.ID == "" || in.Time.IsZero() {
			t.Errorf("incomplete: %+v", in)
		}
		if strings.ContainsAny(in.Sender.Name, "\n\r\x00\x1b\u202e") {
			t.Errorf("a name is not tidy: %q", in.Sender.Name)
		}
	})
}

// TestWebhookOfSlowBodies checks that incomplete bodies, more than the capacity for work and all
// from the address of the proxy, block no event. Sending them requires no secret.
func TestWebhookOfSlowBodies(t *testing.T) {
	for name, forged := range map[string]string{"signed by somebody": "00", "not signed": ""} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, false, nil)
			host := platformtest.NewHost()
			b.receive(t, host)
			host.AwaitUp(t)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // ends hangs before the server's limits
			defer cancel()
			at, err := url.Parse(b.hook)
			stdtest.Must(t, err)
			head := http.Header{"Content-Type": {"application/json"}}
			if forged != "" {
				head.Set("X-Lark-Signature", forged)
			}
			var slow []<-chan int
			for range 128 {
				slow = append(slow, faketest.SlowBody(t, ctx, at.Host, at.Path, head))
			}
			event, err := json.Marshal(map[string]string{"encrypt": feishutest.Seal(b.api.EncryptKey(), b.api.EventBody("im.message.receive_v1", said("om_genuine")))})
			stdtest.Must(t, err)
			began := time.Now()
			code := make(chan int, 1)
			go func() {
				code <- b.post(t, event, func(r *http.Request) {
					feishutest.Sign(r, strconv.FormatInt(b.api.Now().Unix(), 10), "n", b.api.EncryptKey(), event)
				})
			}()
			select {
			case got := <-code:
				if got != http.StatusOK || len(host.Accepted()) != 1 {
					t.Errorf("beside slow bodies: answered %d, %d messages are taken", got, len(host.Accepted()))
				}
			case <-ctx.Done():
				t.Fatal("an event waits for bodies that do not come")
			}
			t.Logf("soak: row=IO4 slow=%d answered=%v", len(slow), time.Since(began))
			for _, s := range slow {
				if got := <-s; got != http.StatusRequestTimeout {
					t.Errorf("a body that does not come is answered %d", got)
				}
			}
		})
	}
}
