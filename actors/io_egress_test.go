package actors_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf16"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegram"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// paced switches the usual limits on, and makes the service enforce the same ones.
func paced(x *wire) {
	x.set = func(o *telegram.Options) { o.RateLimit = "" }
	x.api.Limit(platform.Rates{
		PerChat: platform.Rate{N: 1, Per: time.Second}, PerGroup: platform.Rate{N: 20, Per: time.Minute},
		PerSender: platform.Rate{N: 30, Per: time.Second}, Burst: 3,
	})
}

// refusals counts the sends that the service refused because of their rate.
func refusals(x *wire) int {
	n := 0
	for _, c := range x.api.Calls("sendMessage") {
		if c.Code == http.StatusTooManyRequests {
			n++
		}
	}
	return n
}

func limited(chat int64, seconds int) telegramtest.Fault {
	return telegramtest.Fault{
		Method: "sendMessage", Chat: chat, Kind: faketest.Refuse, Code: http.StatusTooManyRequests,
		Text: fmt.Sprint("Too Many Requests: retry after ", seconds), RetryAfter: seconds,
	}
}

// The service asks some chats to wait. They do, also across a kill, and the others are answered meanwhile.
func TestIO7RetryAfter(t *testing.T) {
	for _, tc := range []struct {
		name string
		kill bool
	}{{"waits", false}, {"waits over a kill", true}} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newWire(t, nil)
				paced(x)
				const chats = 12
				for c := range int64(chats) {
					x.chat(c + 1)
					if c%4 == 0 {
						x.api.Fail(limited(c+1, 200))
					}
				}
				x.start()
				for c := range int64(chats) {
					x.api.Say(c+1, 7, "hi", nil)
				}
				x.later(20 * time.Second)
				for c := range int64(chats) {
					if got, want := len(x.shown(c+1)), min(1, int(c%4)); got != want {
						t.Errorf("after 20 s chat %d shows %d messages, want %d", c+1, got, want)
					}
				}
				if tc.kill {
					x.again() // takes two minutes
				}
				x.later(3 * time.Minute)
				for c := range int64(chats) {
					if got := len(x.shown(c + 1)); got != 1 {
						t.Errorf("at the end chat %d shows %d messages", c+1, got)
					}
				}
				if n := x.api.Early(); n != 0 {
					t.Errorf("%d sends came too early", n)
				}
			})
		})
	}
}

// The service refuses one chat after another, which means that the limit is the account's: nothing is sent until the
// wait is over.
func TestIO7WholeAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newWire(t, nil)
		paced(x)
		flood := limited(0, 20)
		flood.N = 5
		x.api.Fail(flood)
		const chats = 40
		for c := range int64(chats) {
			x.chat(c + 1)
		}
		x.start()
		for c := range int64(chats) {
			if c == 5 {
				x.w.Wait() // the first five have been told
			}
			x.api.Say(c+1, 7, "hi", nil)
		}
		x.later(19 * time.Second)
		if n := len(x.api.Calls("sendMessage")); n != 5 {
			t.Errorf("%d sends within the time, want the 5 that were refused", n)
		}
		x.later(10 * time.Second)
		for c := range int64(chats) {
			if len(x.shown(c+1)) != 1 {
				t.Errorf("chat %d shows %q", c+1, x.shown(c+1))
			}
		}
		if n := x.api.Early(); n != 0 {
			t.Errorf("%d sends came too early", n)
		}
	})
}

// A burst into one group, into one private chat and into many chats at once never exceeds the service's limits.
func TestIO8Paced(t *testing.T) {
	const replies = 100
	say := func(n int) modeltest.Step {
		var calls []modeltest.Call
		for i := range n {
			calls = append(calls, send(fmt.Sprint("c", i), fmt.Sprint("reply ", i)))
		}
		return modeltest.CallTools(calls...)
	}
	for _, tc := range []struct {
		name    string
		chat    int64
		replies int
		lasts   time.Duration
	}{
		{"a group", -5, replies, 6 * time.Minute},
		{"a person", 5, 30, time.Minute},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newWire(t, nil)
				paced(x)
				x.set = func(o *telegram.Options) { o.RateLimit, o.Egress = "", "tool" }
				x.sends = true
				x.model.Add(say(tc.replies), modeltest.Say(""))
				x.chat(tc.chat)
				x.start()
				x.api.Say(tc.chat, 7, "go", nil)
				x.later(tc.lasts)
				var want []string
				for i := range tc.replies {
					want = append(want, fmt.Sprint("reply ", i))
				}
				stdtest.Diff(t, "shown", want, x.shown(tc.chat))
				if n := refusals(x); n != 0 {
					t.Errorf("%d times 429", n)
				}
			})
		})
	}
	t.Run("many chats", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			x := newWire(t, nil)
			paced(x)
			x.start()
			for c := range int64(300) {
				x.chat(c + 1)
				x.api.Say(c+1, 7, "hi", nil)
			}
			x.later(11 * time.Second) // 300 at 30 a second
			for c := range int64(300) {
				if len(x.shown(c+1)) != 1 {
					t.Fatalf("chat %d shows %q", c+1, x.shown(c+1))
				}
			}
			if n := refusals(x); n != 0 {
				t.Errorf("%d times 429", n)
			}
		})
	})
}

// trouble is one way in which a send fails.
type trouble struct {
	name  string
	fault telegramtest.Fault
	twice bool // people may see it twice, since nobody can know
	parks bool
}

func troubles() []trouble {
	refuse := func(code int, text string) telegramtest.Fault {
		return telegramtest.Fault{Method: "sendMessage", Kind: faketest.Refuse, Code: code, Text: text}
	}
	return []trouble{
		{"500", refuse(http.StatusInternalServerError, "Internal Server Error"), false, false},
		{"a page", telegramtest.Fault{Method: "sendMessage", Kind: faketest.Garbage, Code: http.StatusBadGateway}, true, false},
		{"no answer", telegramtest.Fault{Method: "sendMessage", Kind: faketest.Hang}, true, false},
		{"reset before", telegramtest.Fault{Method: "sendMessage", Kind: faketest.ResetBefore}, true, false},
		{"reset after", telegramtest.Fault{Method: "sendMessage", Kind: faketest.ResetAfter}, true, false},
		{"markup refused", refuse(http.StatusBadRequest, "Bad Request: can't parse entities: x"), false, false},
		{"limited", limited(0, 3), false, false},
		{"blocked", refuse(http.StatusForbidden, "Forbidden: bot was blocked by the user"), false, true},
		{"refused", refuse(http.StatusBadRequest, "Bad Request: something else"), false, true},
	}
}

// Sends fail in all ways, one after another. People see the texts in order, and each once unless the outcome of a send
// is unknown. What was given up is parked, counted and in the ledger.
func TestIO9Troubles(t *testing.T) {
	for seed := range uint64(soak(12, 300)) {
		synctest.Test(t, func(t *testing.T) { playTroubles(t, seed) })
	}
}

func playTroubles(t *testing.T, seed uint64) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 9)) //nolint:gosec // a script, not a secret
	x := newWire(t, nil)
	x.chat(1)
	x.start()
	ways := troubles()
	parked, twice := 0, 0
	for i := range 12 {
		text := fmt.Sprintf("answer **%d**", i)
		x.model.Add(modeltest.Say(text))
		way := ways[random.IntN(len(ways))]
		x.api.Fail(way.fault)
		if way.parks {
			parked++
		}
		if way.twice {
			twice++
		}
		x.api.Say(1, 7, fmt.Sprint("question ", i), nil)
		x.later(time.Duration(random.IntN(3)) * 40 * time.Second)
	}
	x.later(10 * time.Minute)
	seen := slices.Compact(x.shown(1))
	found := map[string]bool{}
	last := -1
	for _, s := range seen {
		var n int
		if _, err := fmt.Sscanf(s, "answer %d", &n); err != nil || n <= last {
			t.Errorf("seed %d: %q is out of order in %q", seed, s, seen)
		}
		last, found[s] = n, true
	}
	if extra := len(x.shown(1)) - len(seen); extra > twice {
		t.Errorf("seed %d: %d texts are there twice, and only %d could be", seed, extra, twice)
	}
	refused := 0
	for _, item := range outbox(t, x, 1) {
		if item.LastError == string(platform.SendForbidden) || item.LastError == string(platform.SendRefused) {
			refused++
		}
		found[strings.ReplaceAll(item.Text, "**", "")] = true
		if item.State != messages.OutboxParked || item.LastError == "" {
			t.Errorf("seed %d: %+v is neither sent nor parked with a reason", seed, item)
		}
	}
	for i := range 12 {
		if !found[fmt.Sprint("answer ", i)] {
			t.Errorf("seed %d: answer %d is gone without a word", seed, i)
		}
	}
	if refused != parked {
		t.Errorf("seed %d: %d are parked as refused, want %d", seed, refused, parked)
	}
}

// outbox returns the undelivered and parked messages of a chat.
func outbox(t *testing.T, x *wire, id int64) []messages.OutboxItem {
	t.Helper()
	reply, err := x.w.System.Root.RequestFuture(x.w.Router, messages.OutboxQuery{ChatKey: keyOf(id)}, time.Minute).Result()
	stdtest.Must(t, err)
	r, ok := reply.(messages.OutboxReply)
	if !ok || r.Err != "" {
		t.Fatalf("got %+v", reply)
	}
	return r.Items
}

// A service that always fails is called a bounded number of times, and then the next answer is sent.
func TestIO9GivesUpInBounds(t *testing.T) {
	for _, way := range troubles() {
		if way.name == "limited" || way.name == "markup refused" {
			continue // the service says when, or takes the text at once
		}
		t.Run(way.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newWire(t, nil)
				x.model.Add(modeltest.Say("one"), modeltest.Say("two"))
				x.chat(1)
				way.fault.N = -1
				x.api.Fail(way.fault)
				x.start()
				x.api.Say(1, 7, "a", nil)
				x.later(5 * time.Minute)
				if n := len(x.api.Calls("sendMessage")); n < 1 || n > 8 {
					t.Errorf("%d tries", n)
				}
				x.api.Heal()
				x.api.Say(1, 7, "b", nil)
				x.later(time.Minute)
				if got := x.shown(1); len(got) == 0 || got[len(got)-1] != "two" {
					t.Errorf("shown %q", got)
				}
			})
		})
	}
}

// A long answer full of surrogate pairs is split, and the host is killed after every part. No part that has a receipt
// is sent again.
func TestIO10ResumesAtTheFailedChunk(t *testing.T) {
	long := strings.Repeat("pairs 😀👍🏽 and words. ", 1000)
	for _, kills := range []bool{false, true} {
		t.Run(fmt.Sprint("kills ", kills), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newWire(t, nil)
				paced(x)
				x.model.Add(modeltest.Say(long))
				x.chat(-1)
				x.start()
				x.api.Say(-1, 7, "go", nil)
				for n := 1; kills && n <= 4; n++ {
					for len(x.shown(-1)) < n {
						x.later(100 * time.Millisecond)
					}
					x.again()
				}
				x.later(time.Minute)
				parts := x.shown(-1)
				for i, p := range parts {
					if n := len(utf16.Encode([]rune(p))); n > 4096 || strings.ContainsRune(p, '\uFFFD') {
						t.Errorf("part %d has %d units or a broken pair", i, n)
					}
				}
				if got, want := strings.Join(strings.Fields(strings.Join(parts, " ")), " "), strings.TrimSpace(long); got != want || len(parts) < 5 {
					t.Errorf("%d parts with %d bytes, want %d bytes", len(parts), len(got), len(want))
				}
			})
		})
	}
}

// panicky panics at a log line, a few times.
type panicky struct {
	slog.Handler
	at    string
	times *int
}

func (p panicky) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }

func (p panicky) Handle(_ context.Context, r slog.Record) error {
	if r.Message == p.at && *p.times > 0 {
		*p.times--
		panic("scripted: " + p.at)
	}
	return nil
}

func (p panicky) WithAttrs([]slog.Attr) slog.Handler { return p }

// The adapter actor panics while it has answers to send. They are sent at once, in order and once; a row that makes it
// panic again and again is parked.
func TestAdapterRestartGoesOn(t *testing.T) {
	for _, tc := range []struct {
		name   string
		panics int
		want   []string
	}{
		{"once", 1, []string{"one", "two"}},
		{"for ever", 100, []string{"two"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &actortest.Platform{Caps: platform.Capabilities{Outbox: true}}
				p.Fail = func(_ string, n int) error {
					if n <= 3 {
						return &platform.Error{Reason: platform.SendServer, Retryable: true, Err: errBroken}
					}
					return nil
				}
				times := tc.panics
				w := actortest.New(t, actortest.Options{
					Store: newStore(t), Platform: p, Model: modeltest.NewScript(modeltest.Say("one"), modeltest.Say("two")),
					Log: slog.New(panicky{slog.DiscardHandler, "a send failed and will be tried again", &times}),
				})
				w.Say(alice, "alice", "a")
				w.Wait()
				w.Say(alice, "alice", "b")
				began := time.Now()
				for len(p.Texts(alice)) < len(tc.want) && time.Since(began) < time.Minute {
					<-time.After(100 * time.Millisecond)
					w.Wait()
				}
				stdtest.Diff(t, "sent", tc.want, p.Texts(alice))
				w.Wait()
				if n := w.Metric("sma_outbox_pending"); n != 0 {
					t.Errorf("%v rows are owed", n)
				}
			})
		})
	}
}
