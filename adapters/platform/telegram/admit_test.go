package telegram_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/platformtest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegram"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
)

// store is an access store in memory.
type store struct {
	platform.AccessStore // nil: methods not defined below are not called

	mu      sync.Mutex
	roles   map[string]string
	groups  map[string]bool
	listens map[string]string
	asked   map[string]bool
	tries   int
}

func newStore(ownerID string) *store {
	s := &store{roles: map[string]string{}, groups: map[string]bool{}, listens: map[string]string{}, asked: map[string]bool{}}
	if ownerID != "" {
		s.roles[ownerID] = platform.RoleOwner
	}
	return s
}

func (s *store) Role(_, person string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.roles[person]
}

func (s *store) GroupAllowed(_, chat string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.groups[chat]
}

func (s *store) Redeem(_ context.Context, _, code string, by platform.Person) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tries++; s.tries > 2 {
		return "", errors.New("too many codes")
	}
	if code == "GOODCODE" {
		s.roles[by.ID] = platform.RoleOwner
	}
	return s.roles[by.ID], nil
}

func (s *store) Request(_ context.Context, _ string, w platform.AccessRequest) (string, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	by := w.Who
	fresh := !s.asked[by.ID]
	s.asked[by.ID] = true
	return "ASKCODE" + by.ID, fresh, nil
}

func (s *store) Decide(_ context.Context, _, code string, _ platform.Choice, _ bool) (platform.Visitor, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, ok := strings.CutPrefix(code, "ASKCODE")
	if !ok {
		return platform.Visitor{}, false, nil
	}
	s.roles[id] = platform.RoleApproved
	return platform.Visitor{ID: id, Name: "Bob"}, true, nil
}

func (*store) Waits(string, string) (platform.Visitor, bool) { return platform.Visitor{}, false }
func (*store) AccessState(string) platform.AccessState       { return platform.AccessState{} }

func (s *store) AllowGroup(_ context.Context, _, chat, _, _ string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.groups[chat] = true
	return nil
}

func (s *store) Listens(_, chat string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listens[chat]
}

func (s *store) Listen(_ context.Context, _, chat, _, _, listens string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.groups[chat], s.listens[chat] = true, listens
	return nil
}

// said is one message and its expected result.
type said struct {
	chat, from int64
	text       string
	more       map[string]any
	open       bool
	refuse     bool
	reason     string
	notice     string // a part of it, if there is one
}

func mention() map[string]any {
	return map[string]any{"entities": []any{telegramtest.Entity("mention", 0, len(telegramtest.BotName)+1)}}
}

const at = "@" + telegramtest.BotName + " "

func TestAccess(t *testing.T) {
	paired := func(o *telegram.Options) { o.AccessStore, o.Access = newStore("77"), platform.AccessPaired }
	nobody := func(o *telegram.Options) { o.AccessStore, o.Access = newStore(""), platform.AccessPaired }
	zh := map[string]any{"from": map[string]any{"id": other, "first_name": "李", "language_code": "zh-hans"}}
	cases := []struct {
		name string
		set  func(*telegram.Options)
		say  []said
	}{
		{"a stranger gets one code", paired, []said{
			{other, other, "hi", nil, false, true, "not_paired", "ASKCODE78"},
			{other, other, "hi?", nil, false, true, "not_paired", ""},
			{private, owner, "hello", nil, true, false, "private", ""},
			{private, owner, "/allow ASKCODE78", nil, true, false, "private", "“Bob” (78) may use me now"},
			{other, other, "hi!", nil, true, false, "private", ""},
		}},
		{"in their language", paired, []said{{other, other, "嗨", zh, false, true, "not_paired", "我的主人：ASKCODE78"}}},
		{"pairing", nobody, []said{
			{other, other, "/start BADCODE", nil, false, true, "not_paired", "not valid"},
			{private, owner, "/start GOODCODE", nil, true, false, "paired", "you are the owner"},
			{private, owner, "hello", nil, true, false, "private", ""},
			{other, other, "/start BADCODE", nil, false, true, "not_paired", "Too many"},
			{other, other, "/start BADCODE", nil, false, true, "not_paired", ""},
		}},
		{"a group opens when the owner speaks to the bot", paired, []said{
			{group, other, at + "hi", mention(), false, true, "group_not_allowed", "may not use me yet"},
			{group, other, at + "hi", mention(), false, true, "group_not_allowed", ""},
			{group, owner, "just talking", nil, false, false, "unaddressed", ""},
			{group, other, at + "hi", mention(), false, true, "group_not_allowed", ""},
			{group, owner, at + "hi", mention(), true, false, "mention", ""},
			{group, other, at + "hi", mention(), true, false, "mention", ""},
			{group, other, "just talking", nil, false, false, "unaddressed", ""},
		}},
		{"a group opens with /allow", paired, []said{
			{group, other, "/allow@" + telegramtest.BotName, nil, false, true, "group_not_allowed", "may not use me yet"},
			{group, owner, "/allow", nil, true, false, "command", "may use me now"},
			{group, other, "/allow@" + telegramtest.BotName, nil, false, true, "owner_only", "Only my owner"},
			{group, other, at + "hi", mention(), true, false, "mention", ""},
		}},
		{"the owner says what the bot listens to", paired, []said{
			{group, owner, "/activation commands", nil, true, false, "command", "I now listen to"},
			{group, owner, at + "hi", mention(), false, false, "unaddressed", ""},
			{group, other, "/stop@" + telegramtest.BotName, nil, true, false, "command", ""},
			{group, other, "/activation@" + telegramtest.BotName + " always", nil, false, true, "owner_only", "Only my owner"},
			{group, owner, "/activation loudly", nil, true, false, "command", "Send /activation@sample_bot with"},
			{group, other, "/activation always", nil, false, false, "unaddressed", ""},
			{group, owner, "/activation ALWAYS", nil, true, false, "command", "I now listen to"},
			{group, other, "just talking", nil, true, false, "all", ""},
			{group, owner, "/activation reply", nil, true, false, "command", "I now listen to replies"},
			{group, other, at + "hi", mention(), false, false, "unaddressed", ""},
			{group, owner, "/activation default", nil, true, false, "command", "I now listen to"},
			{group, other, at + "hi", mention(), true, false, "mention", ""},
			{private, owner, "/activation always", nil, true, false, "private", ""},
		}},
		{"who spoke with the bot may go on", func(o *telegram.Options) { paired(o); o.FollowUp = time.Hour }, []said{
			{group, owner, "and then?", nil, false, false, "unaddressed", ""},
			{group, owner, at + "hi", mention(), true, false, "mention", ""},
			{group, owner, "and then?", nil, true, false, "follow_up", ""},
			{group, owner, "lunch is ready", nil, false, false, "unaddressed", ""},
			{group, other, "and then?", nil, false, false, "unaddressed", ""},
			{group, owner, "/activation reply", nil, true, false, "command", "I now listen to replies"},
			{group, owner, "and then?", nil, false, false, "unaddressed", ""},
		}},
		{"open access needs no store", nil, []said{
			{other, other, "hi", nil, true, false, "private", ""},
			{group, other, at + "hi", mention(), true, false, "mention", ""},
			{group, other, "/stop", nil, false, false, "unaddressed", ""},
			{group, other, "/stop@" + telegramtest.BotName, nil, true, false, "command", ""},
			{group, other, "/stop@another_bot", nil, false, false, "other_bot", ""},
		}},
		{"a bot is never heard", nil, []said{
			{private, owner, "hi", map[string]any{"from": map[string]any{"id": 5, "is_bot": true}}, false, false, "bot", ""},
			{group, owner, at + "hi", map[string]any{"from": map[string]any{"id": 5, "is_bot": true}}, false, false, "bot", ""},
			{group, owner, "", map[string]any{"new_chat_title": "x", "text": nil}, false, false, "service", ""},
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, c.set)
			host := platformtest.NewHost()
			b.receive(t, host)
			for i, s := range c.say {
				b.api.Say(s.chat, s.from, s.text, s.more)
				in := host.AwaitAccepted(t, i+1)[i]
				g := in.Gate
				if g.Open != s.open || g.Refuse != s.refuse || g.Reason != s.reason || (s.notice == "") != (g.Notice == "") || !strings.Contains(g.Notice, s.notice) {
					t.Errorf("%d %q: got %+v, want %+v", i, s.text, g, s)
				}
				if strings.Contains(in.Text+in.Command.Args, "GOODCODE") {
					t.Errorf("the code is passed on: %+v", in)
				}
			}
		})
	}
}

func TestNewRefuses(t *testing.T) {
	token := func() string { return "1:CANARY" }
	cases := []struct {
		name string
		o    telegram.Options
		want string
	}{
		{"no token", telegram.Options{}, "no bot token"},
		{"blank token", telegram.Options{Token: func() string { return " \n" }}, "no bot token"},
		{"no store", telegram.Options{Token: token}, "needs a store"},
		{"access", telegram.Options{Token: token, BotOptions: platform.BotOptions{Access: "all"}}, `"all"`},
		{"groups", telegram.Options{Token: token, Groups: "some", BotOptions: platform.BotOptions{Access: "open"}}, `"some"`},
		{"base", telegram.Options{Token: token, BotOptions: platform.BotOptions{Access: "open", BaseURL: "::"}}, "base URL"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := telegram.New(c.o)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "CANARY") {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
