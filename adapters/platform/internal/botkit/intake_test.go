package botkit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/retry"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/spool"
	"github.com/shipmyagent/shipmyagent/adapters/platform/platformtest"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// event is what the service of these tests delivers.
type event struct {
	Chat string `json:"chat"`
	ID   string `json:"id"`
}

func (e event) arrival() Arrival[event] {
	return Arrival[event]{e, platform.Inbound{ChatKey: messages.NewChatKey("test", "", e.Chat, 0), IngressID: e.ID, MessageID: e.ID}}
}

func arrivals(_ context.Context, events []event) (out []Arrival[event]) {
	for _, e := range events {
		out = append(out, e.arrival())
	}
	return out
}

// batch returns arrivals of events given as chat/id.
func batch(words ...string) (out []Arrival[event]) {
	for _, w := range words {
		chat, id, _ := strings.Cut(w, "/")
		out = append(out, event{chat, id}.arrival())
	}
	return out
}

// inlet is an intake with a host that may refuse chats.
type inlet struct {
	t      *testing.T
	host   *platformtest.Host
	gauge  prometheus.Gauge
	intake *Intake[event]
	stop   func()
}

func newInlet(t *testing.T, dir string, redelivers bool) *inlet {
	t.Helper()
	x := &inlet{t: t, host: platformtest.NewHost(), gauge: prometheus.NewGauge(prometheus.GaugeOpts{Name: "aside"})}
	x.start(dir, redelivers)
	return x
}

// start begins the first run or a later one.
func (x *inlet) start(dir string, redelivers bool) {
	x.t.Helper()
	ctx, cancel := context.WithCancel(x.t.Context())
	x.intake = NewIntake(IntakeOptions[event]{
		Status: &Status{Host: x.host}, StateDir: dir, Patience: 2 * time.Second, Redelivers: redelivers, Map: arrivals, Now: time.Now, SetAside: x.gauge,
		Read: func(line []byte) (e event, err error) { return e, json.Unmarshal(line, &e) }, Log: slog.New(slog.DiscardHandler),
	})
	stdtest.Must(x.t, x.intake.Open(ctx))
	x.stop = func() {
		cancel()
		x.intake.Close()
	}
}

// refuse makes the given chats refuse all messages, and all others accept them; * is every chat.
func (x *inlet) refuse(chats ...string) {
	x.host.Refuse(func(in platform.Inbound) error {
		a, _ := in.ChatKey.Address()
		if slices.Contains(chats, a.Chat) || slices.Contains(chats, "*") {
			return platform.ErrUnavailable
		}
		return nil
	})
}

// taken returns what the host has accepted, as chat/id, in order.
func (x *inlet) taken() (out []string) {
	for _, in := range x.host.Accepted() {
		a, _ := in.ChatKey.Address()
		out = append(out, a.Chat+"/"+in.IngressID)
	}
	return out
}

func (x *inlet) wants(when string, aside int, taken ...string) {
	x.t.Helper()
	stdtest.Diff(x.t, fmt.Sprintf("%s: taken", when), taken, x.taken())
	if n := testutil.ToFloat64(x.gauge); n != float64(aside) {
		x.t.Errorf("%s: %v messages are set aside, want %d", when, n, aside)
	}
}

// A chat that refuses is set aside, in order, while the others are served, also across a restart.
func TestIntakeSetsChatsAside(t *testing.T) {
	for _, redelivers := range []bool{false, true} {
		t.Run(fmt.Sprintf("redelivers %v", redelivers), func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				x := newInlet(t, dir, redelivers)
				x.refuse("1")
				began := time.Now()
				stdtest.Must(t, x.intake.Deliver(t.Context(), batch("1/a", "2/b", "1/c")))
				if took := time.Since(began); took < 2*time.Second || took > 10*time.Second {
					t.Errorf("a chat that refuses was set aside after %v", took)
				}
				x.wants("one chat refuses", 2, "2/b")
				began = time.Now()
				if err := x.intake.Deliver(t.Context(), batch("1/d", "2/e", "1/a")); err != nil || time.Since(began) > 0 {
					t.Errorf("what follows waited for %v: %v", time.Since(began), err)
				}
				x.wants("more for the chat that refuses", 3, "2/b", "2/e")
				x.stop()
				x.start(dir, redelivers)
				x.wants("after a restart", 3, "2/b", "2/e")
				x.refuse()
				retry.Wait(t.Context(), 16*time.Second)
				x.wants("the chat takes again", 0, "2/b", "2/e", "1/a", "1/c", "1/d")
				if _, err := os.Stat(filepath.Join(dir, spool.File)); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("the file stays: %v", err)
				}
				x.stop()
			})
		})
	}
}

// If the host accepts no messages at all, they are set aside too; otherwise the presses of everybody would wait.
// Messages wait at the service only if they cannot be set aside.
func TestIntakeSetsAsideWhatNobodyTakes(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		x := newInlet(t, dir, false)
		defer x.stop()
		x.refuse("*")
		if err := x.intake.Deliver(t.Context(), batch("1/a", "2/b")); err != nil {
			t.Error(err)
		}
		x.wants("the host takes nothing", 2)
		var many []string
		for i := range spool.Max - 2 {
			many = append(many, fmt.Sprintf("1/%d", i))
		}
		if err := x.intake.Deliver(t.Context(), batch(many...)); err != nil {
			t.Error(err)
		}
		x.wants("as many as may be", spool.Max)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := x.intake.Deliver(ctx, batch("1/z")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("one too many: %v", err)
		}
		x.refuse()
		if err := x.intake.Deliver(t.Context(), batch("1/z")); err != nil {
			t.Error(err)
		}
		x.wants("the host takes everything", 0, append(append([]string{"1/a", "2/b"}, many...), "1/z")...)
	})
}

// Without a folder nothing can be set aside: the message waits, or the service is asked to
// redeliver it.
func TestIntakeWithoutAFolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newInlet(t, "", true)
		x.refuse("1")
		if err := x.intake.Deliver(t.Context(), batch("1/a")); !errors.Is(err, spool.ErrNoFolder) {
			t.Errorf("it is to be delivered again: %v", err)
		}
		x.stop()
		x.start("", false)
		defer x.stop()
		time.AfterFunc(time.Minute, func() { x.refuse() })
		began := time.Now()
		if err := x.intake.Deliver(t.Context(), batch("1/a", "2/b")); err != nil || time.Since(began) < time.Minute {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		x.wants("in the end", 0, "2/b", "1/a")
		// People see that the bot receives nothing meanwhile.
		want := []platformtest.State{{Note: noRoom}, {Note: noRoom}, {Up: true}}
		stdtest.Diff(t, "reported", want, x.host.States())
	})
}

// Unreadable lines are kept in a file of their own, and the others are delivered.
func TestIntakeKeepsDamagedLines(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		x := newInlet(t, dir, true)
		x.refuse("1")
		stdtest.Must(t, x.intake.Deliver(t.Context(), batch("1/a")))
		x.stop()
		f, err := os.OpenFile(filepath.Join(dir, spool.File), os.O_APPEND|os.O_WRONLY, 0o600)
		stdtest.Must(t, err)
		_, err = f.WriteString("00000000 {\n")
		stdtest.Must(t, errors.Join(err, f.Close()))
		x.refuse()
		x.start(dir, true)
		retry.Wait(t.Context(), 2*time.Second)
		x.wants("with a damaged line", 0, "1/a")
		if raw, err := os.ReadFile(filepath.Join(dir, spool.File+spool.Damaged)); err != nil || !strings.Contains(string(raw), "00000000 {") {
			t.Errorf("the copy holds %q, %v", raw, err)
		}
		x.stop()
	})
}

// A host that panics does not end the retries.
func TestIntakeSurvivesAPanic(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		x := newInlet(t, dir, true)
		defer x.stop()
		x.refuse("1")
		stdtest.Must(t, x.intake.Deliver(t.Context(), batch("1/a")))
		first := true
		x.host.Refuse(func(platform.Inbound) error {
			if first {
				first = false
				panic("once")
			}
			return nil
		})
		retry.Wait(t.Context(), time.Minute)
		x.wants("after a panic", 0, "1/a")
	})
}

// While the host takes nothing, the log says so once, not for every message.
func TestIntakeDoesNotFloodTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &strings.Builder{}
		x := newInlet(t, "", true)
		defer x.stop()
		x.intake.o.Log = slog.New(slog.NewTextHandler(log, nil))
		for outage, want := range []int{1, 2} {
			x.refuse("*")
			for i := range 10 {
				if err := x.intake.Deliver(t.Context(), batch(fmt.Sprintf("1/%d-%d", outage, i))); err == nil {
					t.Fatal("a message is taken")
				}
			}
			if n := strings.Count(log.String(), `msg="the host does not take`); n != want {
				t.Errorf("outage %d: %d lines, want %d", outage, n, want)
			}
			x.refuse()
			if err := x.intake.Deliver(t.Context(), batch(fmt.Sprintf("1/%d", outage))); err != nil {
				t.Error(err)
			}
		}
	})
}
