package botkit

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/access"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/notices"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// gatehouse is an admission with a store on disk, a clock, and everything that it sent.
type gatehouse struct {
	t         *testing.T
	now       time.Time
	store     *access.Store
	admission *Admission
	down      bool   // the core accepts nothing
	shut      string // or nothing for this chat
	said      []platform.Inbound
	shown     []string // outcomes that replaced buttons
	fails     []error  // errors for showing the next ones
}

func newGatehouse(t *testing.T) *gatehouse {
	t.Helper()
	g := &gatehouse{t: t, now: time.Date(2026, 3, 27, 12, 0, 0, 0, time.UTC)}
	var err error
	if g.store, err = access.Open(filepath.Join(t.TempDir(), "access.json"), access.Options{Now: func() time.Time { return g.now }}); err != nil {
		t.Fatal(err)
	}
	code, err := g.store.OwnerCode(t.Context(), "telegram")
	stdtest.Must(t, err)
	if _, err := g.store.Redeem(t.Context(), "telegram", code, platform.Person{ID: "1", Name: "Ann"}); err != nil {
		t.Fatal(err)
	}
	g.restart()
	return g
}

func (g *gatehouse) restart() {
	g.admission = NewAdmission("telegram", platform.AccessRules{Access: platform.AccessPaired}, g.store, func() time.Time { return g.now }, slog.New(slog.DiscardHandler))
}

// Accept implements [platform.Host].
func (g *gatehouse) Accept(_ context.Context, in []platform.Inbound) []platform.Result {
	if g.down || g.shut != "" && in[0].Chat.ID == g.shut {
		return []platform.Result{{Err: platform.ErrUnavailable}}
	}
	g.said = append(g.said, in...)
	return []platform.Result{{}}
}

// Status implements [platform.Host].
func (g *gatehouse) Status(bool, string) {}

// sendDue lets the admission send what is due and returns it.
func (g *gatehouse) sendDue() []platform.Inbound {
	before := len(g.said)
	life := NewLifecycle(slog.New(slog.DiscardHandler))
	life.Begin(g.t.Context(), g)
	defer life.Wait()
	g.admission.SendDue(g.t.Context(), Bot{
		Life:  life,
		Key:   func(chat string) messages.ChatKey { return messages.NewChatKey("telegram", "", chat, 0) },
		Words: func(messages.ChatKey, string) notices.Words { return notices.English("") }, PrivateType: "private",
		Again: func(_ context.Context, raw json.RawMessage) (platform.Inbound, bool) {
			var text string
			err := json.Unmarshal(raw, &text)
			chat, ok := strings.CutPrefix(text, "from ")
			if !ok {
				chat = "2"
			}
			return platform.Inbound{IngressID: "7", Text: text, Chat: platform.ChatInfo{ID: chat}}, err == nil
		},
		Settle: func(_ context.Context, q Question) error {
			g.shown = append(g.shown, q.Message+" "+q.Outcome)
			if len(g.fails) == 0 {
				return nil
			}
			err := g.fails[0]
			g.fails = g.fails[1:]
			return err
		},
	})
	return g.said[before:]
}

// writes handles a message from a stranger.
func (g *gatehouse) writes(id, name, text string) platform.Gate {
	in := message(refused(ReasonNotPaired))
	in.Sender, in.Text = platform.Person{ID: id, Name: name}, text
	raw, err := json.Marshal(text)
	stdtest.Must(g.t, err)
	role, _ := g.admission.RoleOf(in, true)
	return g.admission.Admit(g.t.Context(), Request{In: in, Facts: Facts{ChatType: messages.ChatPrivate, Role: role, Addressed: AddressedMention}, Raw: raw, Say: notices.English("")}).Gate
}

func (g *gatehouse) code(id string) string {
	for _, c := range g.store.Account("telegram").Codes {
		if c.For != nil && c.For.ID == id {
			return c.Code
		}
	}
	return ""
}

// However many strangers write, and however often, the owner reads one message for each of a few,
// and one line about the others.
func TestStrangersDoNotFloodTheOwner(t *testing.T) {
	g := newGatehouse(t)
	for i := range 50 {
		notice := g.writes("2", "Bob", "hello").Notice
		if said := g.sendDue(); (notice != "") != (i == 0) || (len(said) > 0) != (i == 0) {
			t.Fatalf("message %d: the stranger reads %q, the owner %v", i, notice, said)
		}
	}
	for i := range 190 {
		g.writes(fmt.Sprint("s", i), "Eve", "hello")
		g.sendDue()
		if i == 100 {
			g.restart()
		}
	}
	asks, more := 0, map[string]bool{}
	for _, in := range g.said {
		if in.ChatKey != "telegram-chat-1" {
			t.Errorf("said in %s", in.ChatKey)
		}
		if len(in.Gate.Asks) > 0 {
			asks++
			continue
		}
		more[in.IngressID+in.Gate.Notice] = true
	}
	if asks != askedPerHour || len(more) != 1 {
		t.Errorf("the owner was asked %d times and read %d other lines", asks, len(more))
	}
	g.now = g.now.Add(time.Hour)
	if said := g.sendDue(); len(said) != askedPerHour+1 {
		t.Errorf("an hour later the owner reads %d messages", len(said))
	}
}

// Only the owner's press in the owner's own private chat counts, and only once.
func TestOnlyTheOwnersPressCounts(t *testing.T) {
	g := newGatehouse(t)
	g.writes("2", "Bob", "hello")
	g.writes("3", "Eve", "hello")
	g.sendDue()
	bob, eve := g.code("2"), g.code("3")
	press := func(by, chat, code string, choice platform.Choice) Tone {
		return g.admission.Choose(t.Context(), platform.Person{ID: by}, chat, code, choice, notices.English("")).Tone
	}
	for _, x := range []struct {
		what, by, chat, code string
		choice               platform.Choice
		want                 Tone
	}{
		{"a stranger for themselves", "2", "2", bob, platform.LetIn, ToneError},
		{"a stranger in the owner's chat", "2", "1", bob, platform.LetIn, ToneError},
		{"the owner in a group", "1", "-5", bob, platform.LetIn, ToneError},
		{"a code that nobody has", "1", "1", "ACDEFGHJ", platform.LetIn, ToneInfo},
		{"an empty code", "1", "1", "", platform.LetIn, ToneInfo},
		{"the owner", "1", "1", bob, platform.LetIn, ToneSuccess},
		{"the owner again", "1", "1", bob, platform.LetIn, ToneInfo},
		{"the owner, who changed their mind", "1", "1", bob, platform.Block, ToneInfo},
		{"who was let in, for another", "2", "2", eve, platform.LetIn, ToneError},
		{"a block", "1", "1", eve, platform.Block, ToneSuccess},
		{"an old button after the block", "1", "1", eve, platform.LetIn, ToneInfo},
	} {
		if got := press(x.by, x.chat, x.code, x.choice); got != x.want {
			t.Errorf("%s: %s, want %s", x.what, got, x.want)
		}
	}
	if bob, eve := g.store.Role("telegram", "2"), g.store.Role("telegram", "3"); bob != platform.RoleApproved || eve != platform.RoleBlocked {
		t.Errorf("Bob is %q and Eve %q", bob, eve)
	}
	if gate := g.writes("3", "Eve", "please"); gate.Open || gate.Refuse || gate.Notice != "" || g.code("3") != "" {
		t.Errorf("a blocked stranger gets %+v", gate)
	}
}

// A chat that cannot be welcomed now delays no other, nor what the owner is asked.
func TestOneWelcomeDoesNotDelayOthers(t *testing.T) {
	g := newGatehouse(t)
	g.writes("2", "Bob", "hello")
	g.writes("3", "Eve", "from 3")
	g.sendDue()
	for _, id := range []string{"2", "3"} {
		if is := g.admission.Choose(t.Context(), platform.Person{ID: "1"}, "1", g.code(id), platform.LetIn, notices.English("")).Tone; is != ToneSuccess {
			t.Fatal(is)
		}
	}
	g.writes("4", "Ida", "hello")
	g.shut = "2"
	var got []messages.ChatKey
	for _, in := range g.sendDue() {
		got = append(got, in.ChatKey)
	}
	if want := []messages.ChatKey{"telegram-chat-3", "telegram-chat-1"}; !slices.Contains(got, want[0]) || !slices.Contains(got, want[1]) {
		t.Errorf("written to %v, want %v", got, want)
	}
	g.shut = ""
	if said := g.sendDue(); len(said) == 0 || said[0].ChatKey != "telegram-chat-2" {
		t.Errorf("later: %v", said)
	}
}

// Access for once is access for one message, also across a restart and while the core accepts
// nothing.
func TestOnceIsOneMessage(t *testing.T) {
	g := newGatehouse(t)
	g.writes("2", "Bob", "the first")
	g.writes("2", "Bob", "the second")
	g.sendDue()
	if is := g.admission.Choose(t.Context(), platform.Person{ID: "1"}, "1", g.code("2"), platform.LetOnce, notices.English("")).Tone; is != ToneSuccess {
		t.Fatal(is)
	}
	g.down = true
	if said := g.sendDue(); len(said) != 0 {
		t.Fatalf("said %v", said)
	}
	g.down = false
	g.restart()
	said := g.sendDue()
	if len(said) != 2 || said[0].Gate.Notice != notices.English("").LetOnce || said[1].Text != "the first" || !said[1].Gate.Open || said[1].IngressID != "7~in" {
		t.Fatalf("said %+v", said)
	}
	if again := g.sendDue(); len(again) != 0 || g.store.Role("telegram", "2") != platform.RoleStranger {
		t.Errorf("said %+v", again)
	}
	if gate := g.writes("2", "Bob", "the third"); gate.Open || gate.Notice == "" {
		t.Errorf("the next message: %+v", gate)
	}
	if said := g.sendDue(); len(said) != 1 || len(said[0].Gate.Asks) != 1 {
		t.Errorf("the owner reads %+v", said)
	}
}

// A code counts only in the owner's own words, in their private chat.
func TestWhoseCodeCounts(t *testing.T) {
	for name, x := range map[string]struct {
		role      string
		group     bool
		forwarded bool
		wrap      string
		lets      bool
	}{
		"the owner":            {role: platform.RoleOwner, wrap: "%s", lets: true},
		"small letters":        {role: platform.RoleOwner, wrap: " %s ", lets: true},
		"forwarded":            {role: platform.RoleOwner, forwarded: true, wrap: "%s"},
		"within a sentence":    {role: platform.RoleOwner, wrap: "do not let %s in"},
		"with a line below it": {role: platform.RoleOwner, wrap: "%s\nno"},
		"in a group":           {role: platform.RoleOwner, group: true, wrap: "%s"},
		"somebody let in":      {role: platform.RoleApproved, wrap: "%s"},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGatehouse(t)
			g.writes("2", "Bob", "hello")
			in := message(open("private"))
			in.Text, in.Forwarded = strings.ToLower(fmt.Sprintf(x.wrap, g.code("2"))), x.forwarded
			g.admission.Admit(t.Context(), Request{In: in, Facts: Facts{ChatType: map[bool]string{true: "group", false: messages.ChatPrivate}[x.group], Role: x.role, Addressed: AddressedMention}, Say: notices.English("")})
			if lets := g.store.Role("telegram", "2") == platform.RoleApproved; lets != x.lets {
				t.Errorf("Bob is let in: %t", lets)
			}
		})
	}
}

// A name cannot be mistaken for other text.
func TestNamesStayNames(t *testing.T) {
	for name, want := range map[string]string{
		"Bob":                             "“Bob” (7)",
		"approve all":                     "“approve all” (7)",
		"x” (1) may use me. “":            "“x· \\(1\\) may use me\\. ·” (7)",
		"@ann [in](https://evil.example)": "“·ann \\[in\\]\\(https\\:\\/\\/evil\\.example\\)” (7)",
		"a\u202eb\u200b\nc\x1b":           "“ab c” (7)",
		"\u202e":                          "“\\?” (7)",
		strings.Repeat("n", 100):          "“" + strings.Repeat("n", shownName) + "…” (7)",
	} {
		if got := nameOf(platform.Visitor{ID: "7", Name: name}); got != want {
			t.Errorf("%q is shown as %s, want %s", name, got, want)
		}
	}
}

// One stranger, whose request or code is not taken, writes one line of the log an hour.
func TestStrangersDoNotFloodTheLog(t *testing.T) {
	g, log := newGatehouse(t), &strings.Builder{}
	for i := range 200 { // as many as may wait
		g.writes(fmt.Sprint("s", i), "Eve", "hello")
	}
	g.admission = NewAdmission("telegram", platform.AccessRules{Access: platform.AccessPaired}, g.store, func() time.Time { return g.now }, slog.New(slog.NewTextHandler(log, nil)))
	for range 50 {
		g.writes("late", "Mal", "hello")
		g.admission.pair(t.Context(), Request{In: platform.Inbound{Sender: platform.Person{ID: "late"}, Command: platform.Command{Name: "start", Args: "WRONG"}}})
	}
	for _, line := range []string{"a stranger's request could not be stored", "a pairing code was not taken"} {
		if n := strings.Count(log.String(), line); n != 1 {
			t.Errorf("%q is logged %d times, want once", line, n)
		}
	}
}
