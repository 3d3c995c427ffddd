package platformtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// Trouble is a way in which the next call of a service fails.
type Trouble string

// The troubles that a harness can make.
const (
	Limited     Trouble = "rate limited"         // with a pause of 7 s
	Broken      Trouble = "server error"         // 5xx
	CutBefore   Trouble = "cut before"           // the connection breaks before anything is sent
	CutAfter    Trouble = "cut after"            // the connection breaks after the message was sent
	Unauth      Trouble = "credential refused"   //
	Banned      Trouble = "no right to write"    //
	Gone        Trouble = "chat not found"       //
	Moved       Trouble = "chat has a new id"    //
	BadMarkup   Trouble = "markup refused"       // plain text is accepted
	Unreachable Trouble = "nothing is listening" // until the end of the test
)

// Harness is a platform with a service that the suite controls.
type Harness struct {
	// Platform implements [platform.Sender], or its readers follow chats. In the latter case Answer is set.
	Platform platform.Platform
	// Core is the core that the platform was made with. If it is nil, each test makes its own.
	Core *Host
	// Chat is a chat where the bot answers everybody. Topic is a thread of another chat; it is nil if there are no threads.
	Chat  platform.Target
	Topic *platform.Target
	// Limit is the longest text of one message, in UTF-16 units; 0 means no limit.
	Limit int
	// Say makes a person write into a target and returns the message's id.
	Say func(to platform.Target, text string) string
	// Edit makes the person edit the message. Each call is another edit. It is nil if the service does not report edits.
	Edit func(to platform.Target, id, text string)
	// Repeat makes the service, or the person's client, deliver everything again.
	Repeat func()
	// Speak makes a person send a voice message and returns its id. It is nil if this is not possible.
	Speak func(to platform.Target) string
	// Shown returns the bot's texts that people see, in order.
	Shown func(to platform.Target) []string
	// Answer makes the core answer. It is nil if the platform implements [platform.Sender].
	Answer func(to platform.Target, text string)
	// Cut breaks the connections of readers. It is nil if they have no lasting ones.
	Cut func()
	// Press decides the newest visible request with a button. It is nil if there are no buttons.
	Press func(to platform.Target, ask messages.Ask, approve bool)
	// Decided returns what people decided by buttons.
	Decided func() []messages.Decision
	// Marked reports whether a person's message has a reaction. It is nil if there are no reactions.
	Marked func(to platform.Target, id string) bool
	// Make arms a trouble for the next send. It returns false if the platform cannot have it.
	Make func(Trouble) bool
	// Files are the kinds of attachments that the service shows as attachments.
	Files []string
	// Outage makes the service unreachable for the receiver, or reachable again. It is nil if people connect to the
	// platform directly.
	Outage func(on bool)
}

// core returns the core that the platform hands messages to.
func (h Harness) core() *Host {
	if h.Core != nil {
		return h.Core
	}
	return NewHost()
}

// receive runs Receive until the test ends. The test fails if Receive fails.
func receive(t *testing.T, h Harness, host platform.Host) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- h.Platform.Receive(ctx, host) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("Receive: %v", err)
		}
	})
}

func sender(t *testing.T, h Harness) platform.Sender {
	t.Helper()
	s, ok := h.Platform.(platform.Sender)
	if !ok {
		t.Fatalf("%T cannot send", h.Platform)
	}
	return s
}

func testIn(t *testing.T, h Harness) {
	t.Helper()
	host := h.core()
	receive(t, h, host)
	var want, got []string
	for i := range 5 {
		text := fmt.Sprintf("message %d 😀", i)
		want = append(want, h.Say(h.Chat, text)+" "+text)
	}
	ids, requests := map[string]bool{}, map[string]bool{}
	for _, in := range host.AwaitAccepted(t, 5) {
		got = append(got, in.MessageID+" "+in.Text)
		ids[in.IngressID], requests[in.RequestID] = true, true
		switch {
		case in.ChatKey != h.Chat.ChatKey:
			t.Errorf("chat key %q, want %q", in.ChatKey, h.Chat.ChatKey)
		case in.Kind != platform.KindMessage, !in.Gate.Open, in.Gate.Reason == "", in.Sender.ID == "", in.Sender.Name == "" && h.sends(),
			in.Chat.ID == "", in.Chat.Type == "", in.Time.IsZero(), in.RequestID == "", in.IngressID == "":
			t.Errorf("incomplete: %+v", in)
		}
	}
	stdtest.Diff(t, "messages", want, got)
	if len(ids) != 5 || len(requests) != 5 {
		t.Errorf("ids are not unique: %v %v", ids, requests)
	}
	host.AwaitUp(t) // the report comes from another goroutine and may arrive after a message
}

func testUnavailable(t *testing.T, h Harness) {
	t.Helper()
	host := h.core()
	host.Refuse(func(platform.Inbound) error { return platform.ErrUnavailable })
	receive(t, h, host)
	want := []string{h.Say(h.Chat, "one"), h.Say(h.Chat, "two")}
	host.Await(t, "a first try", func() bool { return len(host.Offered()) > 1 })
	host.Refuse(nil)
	var got []string
	for _, in := range host.AwaitAccepted(t, 2) {
		got = append(got, in.MessageID)
	}
	stdtest.Diff(t, "messages", want, got)
}

func testRepeat(t *testing.T, h Harness) {
	t.Helper()
	host := h.core()
	receive(t, h, host)
	h.Say(h.Chat, "once")
	host.AwaitAccepted(t, 1)
	h.Repeat()
	if h.sends() { // a platform that reads the history knows which messages exist
		host.Await(t, "the repetition", func() bool { return len(host.Offered()) > 1 })
	}
	h.Say(h.Chat, "and then this")
	var got []string
	for _, in := range host.AwaitAccepted(t, 2) {
		got = append(got, in.Text)
	}
	if want := []string{"once", "and then this"}; !slices.Equal(got, want) {
		t.Errorf("taken %q, want %q", got, want)
	}
}

func testEditIn(t *testing.T, h Harness) {
	t.Helper()
	host := h.core()
	receive(t, h, host)
	id := h.Say(h.Chat, "one")
	h.Edit(h.Chat, id, "two")
	h.Edit(h.Chat, id, "three")
	ids := map[string]bool{}
	for i, in := range host.AwaitAccepted(t, 3) {
		ids[in.IngressID] = true
		if i > 0 && (in.Kind != platform.KindEdit || in.EditOf != id || in.MessageID != id) {
			t.Errorf("edit %d: %+v", i, in)
		}
	}
	if len(ids) != 3 {
		t.Errorf("ids %v", ids)
	}
}

func testOutage(t *testing.T, h Harness) {
	t.Helper()
	host := h.core()
	receive(t, h, host)
	host.AwaitUp(t)
	h.Outage(true)
	host.Await(t, "the outage to be reported", func() bool {
		s := host.States()
		return !s[len(s)-1].Up && s[len(s)-1].Note != ""
	})
	h.Say(h.Chat, "while away")
	h.Outage(false)
	if in := host.AwaitAccepted(t, 1); in[0].Text != "while away" {
		t.Errorf("got %q", in[0].Text)
	}
	host.AwaitUp(t)
}

func testTopics(t *testing.T, h Harness) {
	t.Helper()
	host := h.core()
	receive(t, h, host)
	h.Say(*h.Topic, "in a topic")
	in := host.AwaitAccepted(t, 1)[0]
	if in.ChatKey != h.Topic.ChatKey || in.Chat.ThreadID == "" {
		t.Errorf("key %q, thread %q; want %q", in.ChatKey, in.Chat.ThreadID, h.Topic.ChatKey)
	}
	s := sender(t, h)
	if _, err := s.Send(t.Context(), *h.Topic, s.Plan(platform.Outbound{To: *h.Topic, Text: "back"})[0]); err != nil {
		t.Fatal(err)
	}
	if got := h.Shown(*h.Topic); !slices.Equal(got, []string{"back"}) {
		t.Errorf("the topic shows %q", got)
	}
}

func testPlan(t *testing.T, h Harness) {
	t.Helper()
	s := sender(t, h)
	words := strings.Repeat("wörd 😀 **bold** `x<y` ", h.Limit/5)
	out := platform.Outbound{To: h.Chat, Text: "# Title\n\n" + words + "\n\n```go\n" + strings.Repeat("line()\n", h.Limit/3) + "```", ReplyTo: "1"}
	parts := s.Plan(out)
	if diff := cmp.Diff(parts, s.Plan(out)); diff != "" {
		t.Errorf("two plans differ:\n%s", diff)
	}
	var all strings.Builder
	for i, p := range parts {
		all.WriteString(p.Text + " ")
		if n := len(utf16.Encode([]rune(p.Text))); n > h.Limit || n == 0 {
			t.Errorf("part %d has %d units", i, n)
		}
		if strings.ContainsRune(p.Text, '\uFFFD') {
			t.Errorf("part %d has a broken character", i)
		}
		if i == 0 && p.ReplyTo == "" || p.ReplyTo != "" && p.ReplyTo != parts[0].ReplyTo {
			t.Errorf("part %d answers %q", i, p.ReplyTo)
		}
	}
	for word, want := range map[string]int{"wörd": h.Limit / 5, "bold": h.Limit / 5, "line": h.Limit / 3, "Title": 1} {
		if got := strings.Count(all.String(), word); got != want {
			t.Errorf("%q is there %d times, want %d", word, got, want)
		}
	}
	for i, p := range parts {
		if _, err := s.Send(t.Context(), h.Chat, p); err != nil {
			t.Errorf("part %d: %v", i, err)
		}
	}
}

func testPlanNothing(t *testing.T, h Harness) {
	t.Helper()
	for _, text := range []string{"", " \n\t"} {
		if parts := sender(t, h).Plan(platform.Outbound{To: h.Chat, Text: text}); len(parts) != 0 {
			t.Errorf("Plan(%q) = %v", text, parts)
		}
	}
}

func testSend(t *testing.T, h Harness) {
	t.Helper()
	s := sender(t, h)
	want := []string{"one", "two < three", "four"}
	ids, last := map[string]bool{}, messages.Receipt{}
	for _, text := range want {
		for _, p := range s.Plan(platform.Outbound{To: h.Chat, Text: text}) {
			made, err := s.Send(t.Context(), h.Chat, p)
			if err != nil || made.ID == "" {
				t.Fatalf("Send: %+v, %v", made, err)
			}
			if made.Order == 0 || made.Order < last.Order {
				t.Errorf("the order of %q is %d, behind %d", text, made.Order, last.Order)
			}
			last, ids[made.ID] = made, true
		}
	}
	if diff := cmp.Diff(want, h.Shown(h.Chat)); diff != "" || len(ids) != len(want) {
		t.Errorf("shown, ids %v (-want +got):\n%s", ids, diff)
	}
}

func testEditOut(t *testing.T, h Harness) {
	t.Helper()
	e, ok := h.Platform.(platform.Editor)
	if !ok {
		t.Fatal("drafts are declared, but nothing can be edited")
	}
	s := sender(t, h)
	made, err := s.Send(t.Context(), h.Chat, s.Plan(platform.Outbound{To: h.Chat, Text: "hal", Draft: true})[0])
	stdtest.Must(t, err)
	final := s.Plan(platform.Outbound{To: h.Chat, Text: "half of **it**"})[0]
	for range 2 { // the second call changes nothing and is no error
		if err := e.Edit(t.Context(), h.Chat, made.ID, final); err != nil {
			t.Errorf("Edit: %v", err)
		}
	}
	if got := h.Shown(h.Chat); !slices.Equal(got, []string{"half of it"}) {
		t.Errorf("shown %q", got)
	}
	if n := len(s.Plan(platform.Outbound{To: h.Chat, Text: strings.Repeat("long ", h.Limit), Draft: true})); n != 1 {
		t.Errorf("a long draft has %d parts", n)
	}
	err = e.Edit(t.Context(), h.Chat, "99999999", final)
	if got, ok := errors.AsType[*platform.Error](err); !ok || got.Retryable {
		t.Errorf("editing a message that is not there: %v", err)
	}
}

func testTroubles(t *testing.T, h Harness) {
	t.Helper()
	s := sender(t, h)
	for _, c := range []struct {
		trouble                   Trouble
		reason                    platform.SendReason
		retryable, unknown, shown bool
	}{
		{Broken, platform.SendServer, true, false, false},
		{CutBefore, platform.SendNetwork, true, true, false},
		{CutAfter, platform.SendNetwork, true, true, true},
		{Banned, platform.SendForbidden, false, false, false},
		{Gone, platform.SendNotFound, false, false, false},
		{Moved, platform.SendMigrated, false, false, false},
		{Unauth, platform.SendAuth, false, false, false},
		{Unreachable, platform.SendNetwork, true, false, false},
	} {
		if h.Make == nil || !h.Make(c.trouble) {
			continue
		}
		before := len(h.Shown(h.Chat))
		_, err := s.Send(t.Context(), h.Chat, platform.Part{Text: "x " + string(c.trouble)})
		e, ok := errors.AsType[*platform.Error](err)
		if !ok {
			t.Errorf("%s: %v is not a platform.Error", c.trouble, err)
			continue
		}
		if e.Reason != c.reason || e.Retryable != c.retryable || e.Unknown != c.unknown {
			t.Errorf("%s: reason %s, retryable %t, unknown %t; want %s, %t, %t", c.trouble, e.Reason, e.Retryable, e.Unknown, c.reason, c.retryable, c.unknown)
		}
		if c.trouble == Moved && e.NewChat == "" {
			t.Error("the new id is missing")
		}
		if shown := len(h.Shown(h.Chat)) > before; shown != c.shown {
			t.Errorf("%s: shown is %t", c.trouble, shown)
		}
	}
}

// testLimited checks that a rate limit is reported with the length of the pause.
func testLimited(t *testing.T, h Harness) {
	t.Helper()
	if h.Make == nil || !h.Make(Limited) {
		t.Fatal("rates are declared, but the service cannot be made to limit anybody")
	}
	_, err := sender(t, h).Send(t.Context(), h.Chat, platform.Part{Text: "x"})
	e, ok := errors.AsType[*platform.Error](err)
	if !ok || e.Reason != platform.SendRate || !e.Retryable || e.Unknown || e.RetryAfter.Seconds() != 7 {
		t.Errorf("got %#v", err)
	}
	if got := h.Shown(h.Chat); len(got) != 0 {
		t.Errorf("shown %q", got)
	}
}

func testBadMarkup(t *testing.T, h Harness) {
	t.Helper()
	if h.Make == nil || !h.Make(BadMarkup) {
		t.Fatal("the service cannot be made to refuse markup")
	}
	s := sender(t, h)
	if _, err := s.Send(t.Context(), h.Chat, s.Plan(platform.Outbound{To: h.Chat, Text: "**bold**"})[0]); err != nil {
		t.Fatal(err)
	}
	if got := h.Shown(h.Chat); !slices.Equal(got, []string{"bold"}) {
		t.Errorf("shown %q", got)
	}
}

func testTyping(t *testing.T, h Harness) {
	t.Helper()
	typer, ok := h.Platform.(platform.Typer)
	if !ok {
		t.Fatal("it shows nothing while an answer is being made")
	}
	if err := typer.Typing(t.Context(), h.Chat); err != nil {
		t.Error(err)
	}
	if got := h.Shown(h.Chat); len(got) != 0 {
		t.Errorf("shown %q", got)
	}
}
