package platformtest

import (
	"slices"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// converse has a person write something that the core answers with a text, and waits until people can see the answer.
func (h Harness) converse(t *testing.T, host *Host, text string) {
	t.Helper()
	before := len(h.Shown(h.Chat))
	h.Say(h.Chat, "what about it?")
	host.AwaitAccepted(t, 1)
	show(t, h, platform.Outbound{To: h.Chat, Text: text})
	h.awaitShown(t, before+1)
}

// awaitShown waits until people see n texts. It polls, because readers signal nothing.
func (h Harness) awaitShown(t *testing.T, n int) {
	t.Helper()
	faketest.Poll(t, "people to see it", func() bool { return len(h.Shown(h.Chat)) >= n })
}

// read makes the core answer with the texts, one after the other, and returns what people saw.
func (h Harness) read(t *testing.T, texts ...string) []string {
	t.Helper()
	host := h.core()
	receive(t, h, host)
	for i, text := range texts {
		h.Say(h.Chat, "go on")
		host.AwaitAccepted(t, i+1)
		h.Answer(h.Chat, text)
		h.awaitShown(t, i+1)
	}
	return h.Shown(h.Chat)
}

// testReads checks that answers arrive in order, once each, and unchanged. They are not split or cut, and markup is not
// escaped, because the page or the terminal does so.
func testReads(want ...string) func(*testing.T, Harness) {
	return func(t *testing.T, h Harness) {
		t.Helper()
		stdtest.Diff(t, "read", want, h.read(t, want...))
	}
}

// testReadNothing checks that an empty answer is not shown.
func testReadNothing(t *testing.T, h Harness) {
	t.Helper()
	host := h.core()
	receive(t, h, host)
	h.Say(h.Chat, "nothing, please")
	host.AwaitAccepted(t, 1)
	h.Answer(h.Chat, "")
	h.Say(h.Chat, "and now something")
	host.AwaitAccepted(t, 2)
	h.Answer(h.Chat, "something")
	h.awaitShown(t, 1)
	if got := h.Shown(h.Chat); !slices.Equal(got, []string{"something"}) {
		t.Errorf("read %q", got)
	}
}

// testReadAgain checks that a broken connection loses no answer.
func testReadAgain(t *testing.T, h Harness) {
	t.Helper()
	if h.Cut == nil {
		t.Fatal("readers cannot be cut off")
	}
	host := h.core()
	receive(t, h, host)
	var want []string
	for i, text := range []string{"before", "while away", "after"} {
		h.Say(h.Chat, "go on")
		host.AwaitAccepted(t, i+1)
		if i == 1 {
			h.Cut()
		}
		h.Answer(h.Chat, text)
		want = append(want, text)
		h.awaitShown(t, len(want))
	}
	stdtest.Diff(t, "read", want, h.Shown(h.Chat))
}

// testNotLimited checks that many messages are sent without a pause.
func testNotLimited(t *testing.T, h Harness) {
	t.Helper()
	want := slices.Repeat([]string{"again"}, 20)
	if !h.sends() {
		testReads(want...)(t, h)
		return
	}
	for _, text := range want {
		show(t, h, platform.Outbound{To: h.Chat, Text: text})
	}
	if got := h.Shown(h.Chat); !slices.Equal(got, want) {
		t.Errorf("shown %q", got)
	}
}

// testFinishedOnly checks that only finished texts are shown.
func testFinishedOnly(t *testing.T, h Harness) {
	t.Helper()
	if h.sends() {
		show(t, h, platform.Outbound{To: h.Chat, Text: "all of it"})
	} else {
		h.read(t, "all of it")
	}
	if got := h.Shown(h.Chat); !slices.Equal(got, []string{"all of it"}) {
		t.Errorf("shown %q", got)
	}
}

// testNoEditIn checks that a message with a known id changes nothing.
func testNoEditIn(t *testing.T, h Harness) {
	t.Helper()
	host := h.core()
	receive(t, h, host)
	h.Say(h.Chat, "one")
	host.AwaitAccepted(t, 1)
	h.Repeat()
	h.Say(h.Chat, "two")
	for i, in := range host.AwaitAccepted(t, 2) {
		if in.Kind != platform.KindMessage || in.EditOf != "" || in.Text != []string{"one", "two"}[i] {
			t.Errorf("message %d: %+v", i, in)
		}
	}
}

// testNoTopics checks that messages belong to the chat and to no topic.
func testNoTopics(t *testing.T, h Harness) {
	t.Helper()
	host := h.core()
	receive(t, h, host)
	h.Say(h.Chat, "hi")
	if in := host.AwaitAccepted(t, 1)[0]; in.ChatKey != h.Chat.ChatKey || in.Chat.ThreadID != "" || h.Chat.Topic != 0 {
		t.Errorf("key %q, thread %q", in.ChatKey, in.Chat.ThreadID)
	}
}
