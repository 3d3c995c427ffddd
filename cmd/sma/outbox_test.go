package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
)

// A message that the platform refuses permanently is parked, listed with and without a running host, sent after a
// retry, and given up by a drop. The counts are correct afterwards.
func TestOutboxCommands(t *testing.T) {
	w := newTelegramWorld(t, 1, "direct", modeltest.NewFunc(acknowledge))
	v := newVictim(t, w.dir, killable(t))
	v.start(t)
	v.ready(t)
	refuse := telegramtest.Fault{Method: "sendMessage", Kind: faketest.Refuse, Code: 400, Text: "Bad Request: this chat takes nothing", N: -1}
	w.api.Fail(refuse)
	for _, words := range []string{"please m-1-0", "please m-1-1"} {
		before := len(outbox(t, v, "--parked"))
		w.write(1, words)
		faketest.Poll(t, "the answer to be parked", func() bool { return len(outbox(t, v, "--parked")) > before })
	}
	online := outbox(t, v)
	v.stop(t)

	if offline := outbox(t, v, "telegram-chat-1"); len(offline) != 2 || len(online) != 2 || offline[0].ID != online[0].ID || offline[1].ID != online[1].ID {
		t.Errorf("offline %v, online %v, want the same two", offline, online)
	}
	first := online[0]
	if first.State != "parked" || first.Kind != "egress" || first.LastError == "" || !strings.Contains(first.Text, "m-1-0") || first.Since.IsZero() {
		t.Errorf("parked is %+v", first)
	}
	if _, said, code := outboxRun(t, v, nil, "retry", "telegram-chat-1", "--all"); code != 1 || !strings.Contains(said, "try: sma run") {
		t.Errorf("a retry without a host exits with %d: %s", code, said)
	}

	w.api.Heal()
	v.start(t)
	v.ready(t)
	if shown, _, _ := outboxRun(t, v, []string{"LANG=zh_CN.UTF-8"}, "list"); !strings.Contains(shown, "已搁置") || !strings.Contains(shown, "m-1-1") {
		t.Errorf("the list in Chinese is\n%s", shown)
	}
	if shown, _, _ := outboxRun(t, v, nil, "drop", "telegram-chat-1", first.ID); shown != "1 given up\n" {
		t.Errorf("drop says %q", shown)
	}
	if _, said, code := outboxRun(t, v, nil, "drop", "telegram-chat-1", first.ID); code != 1 || !strings.Contains(said, "there is no "+first.ID) {
		t.Errorf("a second drop exits with %d: %s", code, said)
	}
	if shown, _, _ := outboxRun(t, v, nil, "retry", "telegram-chat-1", "--all"); shown != "1 taken up again\n" {
		t.Errorf("retry says %q", shown)
	}
	w.api.Await(t, "the answer", func() bool { return w.copies(1)["m-1-1"] == 1 })
	faketest.Poll(t, "an empty outbox", func() bool { return len(outbox(t, v)) == 0 })
	v.stop(t)
	if shown, _, _ := outboxRun(t, v, nil, "list"); shown != "the outbox is empty\n" {
		t.Errorf("the empty list is %q", shown)
	}
	b := v.book(t, "telegram-chat-1")
	b.balanced(t, "the chat", 2)
	if got := w.copies(1); got["m-1-0"] != 0 || got["m-1-1"] != 1 {
		t.Errorf("people have %v", got)
	}
	if last := b.Ledger[len(b.Ledger)-1]; len(last.Receipt) != 1 {
		t.Errorf("the ledger ends with %+v", last)
	}
}

func outbox(t *testing.T, v *victim, args ...string) []query.OutboxLine {
	t.Helper()
	var doc struct{ Outbox []query.OutboxLine }
	shown, said, code := outboxRun(t, v, nil, append([]string{"list", "--json"}, args...)...)
	if code != 0 || json.Unmarshal([]byte(shown), &doc) != nil {
		return nil // the host is not there yet
	}
	if doc.Outbox == nil {
		t.Fatalf("no list in %s%s", shown, said)
	}
	return doc.Outbox
}

func outboxRun(t *testing.T, v *victim, env []string, args ...string) (shown, said string, code int) {
	t.Helper()
	cmd := v.command(t, append([]string{"--dir", v.dir, "outbox"}, args...)...)
	var out, err bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.Env = &out, &err, append(cmd.Env, env...)
	_ = cmd.Run() // the exit code is what counts
	return out.String(), err.String(), cmd.ProcessState.ExitCode()
}
