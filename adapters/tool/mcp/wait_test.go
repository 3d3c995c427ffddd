package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// TestCallsWaitForARestart: a call waits for a server that is restarting, longer than for a server
// that has been down for a while. The start of the host waits for neither.
func TestCallsWaitForARestart(t *testing.T) {
	a := newAddressed(t)
	w := newWorld(t, func(o *Options) {
		o.Limits.Patience, o.Limits.Pause, o.Limits.MaxPause = time.Millisecond, 5*time.Millisecond, time.Hour
	})
	s := Server{Name: "s", URL: a.url + "/mcp", Shown: "http", Timeout: time.Minute}
	w.apply(s)
	w.up("s")
	a.broken.Store(true)
	w.close(w.m)
	w.open()
	w.apply(s) // returns although the server is down
	w.until("it to be down", func() bool { return w.status("s").Condition == ConditionDown })
	type answer struct {
		text string
		err  error
	}
	greet := w.tool("s:greet")
	got := make(chan answer, 1)
	go func() {
		result, err := greet.Invoke(t.Context(), tool.Call{ID: "1", Name: "s:greet", Input: json.RawMessage(`{"name":"Ann"}`)})
		got <- answer{string(result.Output), err}
	}()
	tries := func() int {
		c, err := w.m.client("s")
		stdtest.Must(t, err)
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.tries
	}
	before := tries()
	w.until("the address to be tried again and again", func() bool { return tries() >= before+3 })
	select {
	case early := <-got:
		t.Fatalf("the call ended while the server was down: %+v", early)
	default:
	}
	a.broken.Store(false)
	if end := <-got; end.err != nil || end.text != `"hello Ann"` {
		t.Errorf("the call = %+v", end)
	}
}

// TestCallsDoNotWaitLongForTheDead: a call waits only briefly for a server that has been down for a
// while, and it ends with its run.
func TestCallsDoNotWaitLongForTheDead(t *testing.T) {
	a := newAddressed(t)
	w := newWorld(t, func(o *Options) {
		o.Limits.Patience, o.Limits.Lately, o.Limits.Pause, o.Limits.MaxPause = 10*time.Millisecond, time.Nanosecond, time.Millisecond, time.Hour
	})
	s := Server{Name: "s", URL: a.url + "/mcp", Shown: "http", Timeout: time.Hour}
	w.apply(s)
	w.up("s")
	a.broken.Store(true)
	w.close(w.m)
	w.open()
	w.apply(s)
	w.until("it to be down", func() bool { return w.status("s").Condition == ConditionDown })
	if _, err := w.call("s:greet", `{"name":"Ann"}`); !errors.Is(err, ErrDown) {
		t.Errorf("the call: %v, want %v", err, ErrDown)
	}
}

// A server that no longer reads its input delays a call with a large input for as long as a call may take. It is then
// restarted.
func TestAServerThatReadsNothingIsRestarted(t *testing.T) {
	w := newWorld(t, nil)
	s := w.server("a", plain("unread", "tool"))
	s.Timeout = 200 * time.Millisecond
	w.apply(s)
	w.up("a")
	if _, err := w.call("a:unread", `{}`); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("the call after which it reads nothing: %v", err)
	}
	if _, err := w.call("a:tool", `{"text":"`+strings.Repeat("x", 1<<20)+`"}`); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the call that it does not read: %v", err)
	}
	w.until("it to be restarted", func() bool { return w.marks("a", "started") == 2 })
	w.up("a")
	if out, err := w.call("a:tool", `{}`); err != nil || out != `"tool {}"` {
		t.Errorf("the next call: %s, %v", out, err)
	}
}
