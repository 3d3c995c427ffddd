package host

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform/feishutest"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// The settings and the first request of the scripts below: in Ann's private chat, in a
// group where Ann and Bob write, and in a forum. What nobody approved is remembered
// nowhere. bot#1 says that Ann is the owner.
const (
	askedAlone = `
set access paired
model call memory_upsert {"scope":"project","text":"ONE."}
model rest text Well.
pair ann 1
say ann 1 remember one
`
	// bot#3 shows #1.
	askedInGroup = `
set access paired
chat -5 supergroup Team
model call memory_upsert {"scope":"project","text":"ONE."}
model rest text Well.
pair ann 1
say ann -5 /allow
say bob -5 @sample_bot remember one
`
	askedWhereAllIsHeard = `
set access paired
set groups all
chat -5 supergroup Team
model call memory_upsert {"scope":"project","text":"ONE."}
model rest text Well.
pair ann 1
say ann -5 /allow
say bob -5 remember one
`
	askedInForum = `
set access paired
chat -5 supergroup Team forum topics 7,8
model call memory_upsert {"scope":"project","text":"ONE."}
model rest text Well.
pair ann 1
say ann -5/7 /allow
say bob -5/7 @sample_bot remember one
`
	askedTwice = `
set access paired
model call memory_upsert {"scope":"project","text":"ONE."}
model call memory_upsert {"scope":"project","text":"TWO."}
model rest text Well.
pair ann 1
say ann 1 remember one
say ann 1 remember two
`
	// #1 has ended when #2 is shown by bot#4.
	askedAgain = `
set access paired
model call memory_upsert {"scope":"project","text":"ONE."}
model text Then not.
model call memory_upsert {"scope":"project","text":"TWO."}
model rest text Well.
pair ann 1
say ann 1 remember one
say ann 1 /deny 1
say ann 1 remember two
`
)

// remembered is what was remembered: the effect of what was approved.
func (s *scene) remembered() string {
	data, err := os.ReadFile(filepath.Join(s.p.dir, ".ship", "memory", "project.md"))
	if err != nil && !os.IsNotExist(err) {
		s.t.Error(err)
	}
	return string(data)
}

// taken is how many messages of people the chats have taken.
func (s *scene) taken() int64 {
	var n int64
	for _, key := range s.keys {
		view, err := s.h.ports["telegram"].port.History(s.t.Context(), key)
		if err != nil {
			s.t.Error(err)
		}
		n += view.Counts.Accepted
	}
	return n
}

// attempt is a way to have something approved that nobody approved. What has happened
// before is begin.
type attempt struct {
	name, begin, script string
	// remembers is what is remembered in the end, for what is right; empty: nothing.
	remembers string
	arrives   int // messages of the script that reach a chat beside its lines of say and reply
}

// play plays an attempt and compares its effects with those that are permitted.
func (x attempt) play(t *testing.T) {
	t.Helper()
	s := newScene(t)
	s.play(x.begin)
	before := s.taken()
	lines := int64(x.arrives)
	for line := range strings.Lines(x.script) {
		verb, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if verb == "say" || verb == "reply" || verb == "edit" || verb == "send" {
			lines++
		}
	}
	s.play(x.script)
	if got := s.taken() - before; got != lines {
		t.Errorf("%d messages arrived, want %d", got, lines)
	}
	got := s.remembered()
	for _, what := range []string{"ONE.", "TWO."} {
		if strings.Contains(got, what) != strings.Contains(x.remembers, what) {
			t.Errorf("remembered %q, want %q; the bot says %q", got, x.remembers, s.sent()[len(s.sent())-1].text)
		}
	}
}

// Words decide what they answer, and nothing else: the last thing that the bot said
// before them, or the message that they answer.
func TestWordsOfAnotherTalk(t *testing.T) {
	n := 0
	for _, x := range []attempt{
		{"the bot has spoken since", askedAlone, "say ann 1 hello\nsay ann 1 yes", "", 0},
		{"it has, in Chinese", askedAlone, "say ann 1 hello\nsay ann 1 同意", "", 0},
		{"it has, and a thumb", askedAlone, "say ann 1 hello\nsay ann 1 👍", "", 0},
		{"it has, and all", askedAlone, "say ann 1 hello\nsay ann 1 approve all", "", 0},
		{"it has, and the bare command", askedAlone, "say ann 1 hello\nsay ann 1 /approve", "", 0},
		{"it has, and the command for all", askedAlone, "say ann 1 hello\nsay ann 1 /approve all", "", 0},
		{"it has, and this", askedAlone, "say ann 1 hello\nsay ann 1 approve this", "", 0},
		{"it has, after a restart", askedAlone, "say ann 1 hello\nrestart\nsay ann 1 yes", "", 0},
		{"a restart before it has", askedAlone, "restart\nsay ann 1 hello\nsay ann 1 yes", "", 0},
		{"a command was answered since", askedAlone, "say ann 1 /status\nsay ann 1 yes", "", 0},
		{"an unknown command was answered since", askedAlone, "say ann 1 /help\nsay ann 1 ok", "", 0},
		{"another member's turn between", askedInGroup, "say bob -5 @sample_bot hello\nsay ann -5 @sample_bot yes", "", 0},
		{"another member's turn between, after a restart", askedInGroup, "say bob -5 @sample_bot hello\nrestart\nsay ann -5 @sample_bot yes", "", 0},
		{"an answer to a member", askedInGroup, "say bob -5 shall we meet\nreply ann bob#2 @sample_bot yes", "", 0},
		{"an answer to the member who asked", askedInGroup, "reply ann bob#1 @sample_bot yes", "", 0},
		{"a command as an answer to a member", askedInGroup, "reply ann bob#1 /approve@sample_bot 1", "", 0},
		{"a bare command as an answer to a member", askedInGroup, "reply ann bob#1 /approve@sample_bot", "", 0},
		{"a number as an answer to a member", askedInGroup, "reply ann bob#1 @sample_bot 同意第1个", "", 0},
		{"a sharp number as an answer to a member", askedInGroup, "reply ann bob#1 @sample_bot approve #1", "", 0},
		{"an answer to herself", askedAlone, "reply ann ann#2 yes", "", 0},
		{"a number as an answer to herself", askedAlone, "reply ann ann#2 /approve 1", "", 0},
		{"an answer to another message of the bot's", askedAlone, "reply ann bot#1 yes", "", 0},
		{"an answer to what the bot said since", askedAlone, "say ann 1 hello\nreply ann bot#3 yes", "", 0},
		{"an answer in another chat", askedAlone, `say ann 1 yes {"external_reply":{"origin":{"type":"user"}}}`, "", 0},
		{"a number as an answer in another chat", askedAlone, `say ann 1 /approve 1 {"external_reply":{"origin":{"type":"user"}}}`, "", 0},
		{"an answer to a story", askedAlone, `say ann 1 yes {"reply_to_story":{"id":1}}`, "", 0},
		{"a quote of another chat", askedAlone, `say ann 1 yes {"quote":{"text":"shall we meet"}}`, "", 0},
		{"words to another bot", askedAlone, "say ann 1 @other_bot yes", "", 0},
		{"words to a bot whose name begins alike", askedAlone, "say ann 1 @sample_bot2 yes", "", 0},
		{"words to a member", askedWhereAllIsHeard, "say ann -5 @bob yes", "", 0},
		{"a command to another bot", askedAlone, "say ann 1 /approve@other_bot 1", "", 0},
		{"forwarded words", askedAlone, `say ann 1 yes {"forward_origin":{"type":"user","sender_user":{"id":3}}}`, "", 0},
		{"words through a bot", askedAlone, `say ann 1 yes {"via_bot":{"id":9,"is_bot":true,"first_name":"x"}}`, "", 0},
		{"an edit", askedAlone, "edit ann ann#2 yes", "", 0},
		{"a caption", askedAlone, "send ann 1 photo a.jpg yes", "", 0},
		{"a member's yes", askedInGroup, "say bob -5 @sample_bot yes", "", 0},
		{"a member's answer to the request", askedInGroup, "reply bob bot@-5 yes", "", 0},
		{"where all is heard, a member spoke between", askedWhereAllIsHeard, "say bob -5 hello\nsay ann -5 yes", "", 0},
		{"where all is heard, a member asked her", askedWhereAllIsHeard, "say bob -5 shall we meet\nreply ann bob#2 yes", "", 0},
		{"in another topic", askedInForum, "say ann -5/8 @sample_bot yes", "", 0},
		{"in the general topic", askedInForum, "say ann -5 @sample_bot yes", "", 0},
		{"a number in another topic", askedInForum, "say ann -5/8 /approve@sample_bot 1", "", 0},
		{"two are open", askedTwice, "say ann 1 yes", "", 0},
		{"two are open, and all", askedTwice, "say ann 1 全部同意", "", 0},
		{"two are open, and a number of neither", askedTwice, "say ann 1 /approve 3", "", 0},
		{"two are open, and a name of both", askedTwice, "say ann 1 approve memory_upsert", "", 0},
		{"a number that has ended", askedAgain, "say ann 1 approve 1", "", 0},
		{"a number that has ended, in Chinese", askedAgain, "say ann 1 同意第1个", "", 0},
		{"a number that has ended, as an answer", askedAgain, "reply ann bot#4 approve 1", "", 0},
		{"a redelivered yes of before", strings.Replace(askedAlone, "say ann 1 remember one", "say ann 1 yes\nsay ann 1 remember one", 1) + "", "again ann#2", "", 0},
		{"a yes that was written before the request", strings.Replace(askedAlone, "say ann 1 remember one", "gather\nsay ann 1 remember one\nsay ann 1 yes\nscatter", 1), "restart", "", 0},
		{"a group that moved, and the number of the message", askedInGroup, "migrate -5 -1005\nsay bob -1005 hi\nreply ann bob#2 @sample_bot yes", "", 2},

		{"what is right: yes", askedAlone, "say ann 1 yes", "ONE.", 0},
		{"what is right: yes after a restart", askedAlone, "restart\nsay ann 1 yes", "ONE.", 0},
		{"what is right: an answer to it", askedAlone, "say ann 1 hello\nreply ann bot#2 yes", "ONE.", 0},
		{"what is right: an answer to it after a restart", askedAlone, "say ann 1 hello\nrestart\nreply ann bot#2 可以。", "ONE.", 0},
		{"what is right: its number", askedAlone, "say ann 1 hello\nsay ann 1 /approve 1", "ONE.", 0},
		{"what is right: its number in words", askedAlone, "say ann 1 hello\nsay ann 1 同意第1个", "ONE.", 0},
		{"what is right: its number, as an answer to other words of the bot's", askedAlone, "say ann 1 hello\nreply ann bot#3 /approve 1", "ONE.", 0},
		{"what is right: the number of the other, as an answer", askedTwice, "reply ann bot#3 /approve 1", "ONE.", 0},
		{"what is right: the list first", askedAlone, "say ann 1 hello\nsay ann 1 yes\nsay ann 1 yes", "ONE.", 0},
		{"what is right: an answer to the list", askedAlone, "say ann 1 /approvals\nsay ann 1 hello\nreply ann bot#3 yes", "ONE.", 0},
		{"what is right: a member wrote, and the bot said nothing", askedInGroup, "say bob -5 shall we meet\nsay ann -5 @sample_bot yes", "ONE.", 0},
		{"what is right: a member wrote at the same time", askedInGroup, "gather\nsay bob -5 @sample_bot hello\nsay ann -5 @sample_bot yes\nscatter", "ONE.", 0},
		{"what is right: the answered one of two", askedTwice, "reply ann bot#2 yes", "ONE.", 0},
		{"what is right: the other one of two", askedTwice, "reply ann bot#3 yes", "TWO.", 0},
		{"what is right: all of the list", askedTwice, "say ann 1 approve all\nsay ann 1 approve all", "ONE. TWO.", 0},
		{"what is right: the number after one that has ended", askedAgain, "say ann 1 approve 2", "TWO.", 0},
		{"what is right: in its topic", askedInForum, "say ann -5/7 @sample_bot yes", "ONE.", 0},
	} {
		if x.remembers == "" {
			n++
		}
		t.Run(x.name, x.play)
	}
	if n < 30 {
		t.Errorf("%d attempts", n)
	}
}

// feishuAttempt is an attempt in Feishu. Chats are oc_1, with Ann, and oc_g, with Ann and
// Bob; do is what they do when Ann's request is shown.
type feishuAttempt struct {
	name, chat string
	do         func(s *feishuScene)
	remembers  bool
}

// words makes somebody write, as an answer to a message if one is named.
func (s *feishuScene) words(chat, who, text, answers string) string {
	s.t.Helper()
	more := map[string]any{"content": fmt.Sprintf(`{"text":%q}`, text)}
	if words, named := strings.CutPrefix(text, "@bot"); named {
		more["content"] = fmt.Sprintf(`{"text":%q}`, "@_user_1"+words)
		more["mentions"] = []any{feishutest.Mention("@_user_1", feishutest.Bot, "Sample")}
	}
	if words, named := strings.CutPrefix(text, "@bob"); named {
		more["content"] = fmt.Sprintf(`{"text":%q}`, "@_user_1"+words)
		more["mentions"] = []any{feishutest.Mention("@_user_1", "ou_bob", "Sample")}
	}
	if answers != "" {
		more["parent_id"], more["root_id"] = answers, answers
	}
	s.api.Advance(1e6) // a millisecond: what is written later has a later time
	id := s.api.Say(chat, "ou_"+who, text, more)
	s.restFeishu(text)
	return id
}

func (s *feishuScene) last(chat string) string {
	all := s.api.Sent(chat)
	return all[len(all)-1].ID
}

func TestWordsOfAnotherTalkInFeishu(t *testing.T) {
	say := func(chat string, words ...string) func(*feishuScene) {
		return func(s *feishuScene) {
			for _, text := range words {
				who, text, _ := strings.Cut(text, ": ")
				s.words(chat, who, text, "")
			}
		}
	}
	answer := func(chat, to, text string) func(*feishuScene) {
		return func(s *feishuScene) { s.words(chat, "ann", text, s.words(chat, to, "shall we meet", "")) }
	}
	for _, x := range []feishuAttempt{
		{"the bot has spoken since", "oc_1", say("oc_1", "ann: hello", "ann: yes"), false},
		{"it has, in Chinese", "oc_1", say("oc_1", "ann: hello", "ann: 同意"), false},
		{"it has, and the bare command", "oc_1", say("oc_1", "ann: hello", "ann: /approve"), false},
		{"a command was answered since", "oc_1", say("oc_1", "ann: /status", "ann: yes"), false},
		{"another member's turn between", "oc_g", say("oc_g", "bob: @bot hello", "ann: @bot yes"), false},
		{"an answer to a member", "oc_g", answer("oc_g", "bob", "@bot yes"), false},
		{"a number as an answer to a member", "oc_g", answer("oc_g", "bob", "@bot /approve 1"), false},
		{"an answer to herself", "oc_g", answer("oc_g", "ann", "@bot yes"), false},
		{"words to a member with the bot's name", "oc_1", say("oc_1", "ann: @bob yes"), false},
		{"words to a name that nobody has", "oc_1", say("oc_1", "ann: @Sample yes"), false},
		{"a command to another bot", "oc_1", say("oc_1", "ann: /approve@other 1"), false},
		{"a member's yes", "oc_g", say("oc_g", "bob: @bot yes"), false},
		{"a yes of an earlier time", "oc_1", func(s *feishuScene) {
			s.api.Say("oc_1", "ou_ann", "yes", map[string]any{"create_time": "1600000000000"})
			s.restFeishu("an old yes")
		}, false},
		{"a number of an earlier time", "oc_1", func(s *feishuScene) {
			s.api.Say("oc_1", "ou_ann", "/approve 1", map[string]any{"create_time": "1600000000000"})
			s.restFeishu("an old number")
		}, false},
		{"a yes without a time", "oc_1", func(s *feishuScene) {
			s.api.Say("oc_1", "ou_ann", "yes", map[string]any{"create_time": nil})
			s.restFeishu("a yes without a time")
		}, false},
		{"forwarded words", "oc_1", func(s *feishuScene) {
			s.api.SayForwarded("oc_1", "ou_ann", []feishutest.Forwarded{{From: "ou_eve", Kind: "text", Content: `{"text":"yes"}`}}, nil)
			s.restFeishu("forwarded words")
		}, false},
		{"in a thread of its own", "oc_1", func(s *feishuScene) {
			s.api.Advance(1e6)
			s.api.Say("oc_1", "ou_ann", "yes", map[string]any{"thread_id": "omt_1"})
			s.restFeishu("yes in a thread")
		}, false},

		{"what is right: yes", "oc_1", say("oc_1", "ann: yes"), true},
		{"what is right: yes to the bot", "oc_g", say("oc_g", "ann: @bot yes"), true},
		{"what is right: an answer to it", "oc_g", func(s *feishuScene) {
			asked := s.last("oc_g")
			s.words("oc_g", "bob", "@bot hello", "")
			s.words("oc_g", "ann", "@bot yes", asked)
		}, true},
		{"what is right: its number", "oc_g", say("oc_g", "bob: @bot hello", "ann: @bot /approve 1"), true},
		{"what is right: the list first", "oc_1", say("oc_1", "ann: hello", "ann: yes", "ann: yes"), true},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := newFeishuScene(t)
			s.playFeishu(`
set permissions.exec.approvers ["feishu-ou_ann"]
set groups {"*":{}}
chat oc_1 p2p
chat oc_g group
model call memory_upsert {"scope":"project","text":"ONE."}
model rest text Well.
say ann ` + x.chat + ` @bot remember one`)
			view := func() int64 {
				v, err := s.h.ports["feishu"].port.History(t.Context(), messages.NewChatKey("feishu", "", x.chat, 0))
				stdtest.Must(t, err)
				return v.Counts.Accepted
			}
			before := view()
			x.do(s)
			if view() == before {
				t.Error("nothing arrived")
			}
			if got := s.remembered(); strings.Contains(got, "ONE.") != x.remembers {
				all := s.api.Sent(x.chat)
				t.Errorf("remembered %q; the bot says %q", got, all[len(all)-1].Text)
			}
		})
	}
}

func newFeishuScene(t *testing.T) *feishuScene {
	t.Helper()
	s := &feishuScene{scene: newScene(t), api: feishutest.NewAPI(t), ids: map[string]string{}, offered: map[string][]feishutest.Button{}}
	s.flags = telegramFlags(s.p)
	maps.Copy(s.flags, feishuFlags(s.api, "connection"))
	s.flags["adapters.feishu.egress"] = "direct"
	return s
}
