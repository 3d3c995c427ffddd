package telegram

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/go-telegram/bot/models"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

func testMapper() mapper {
	return mapper{me: models.User{ID: 9, Username: "Sample_Bot"}, commands: []string{"stop", "start", "new"}}
}

// mapJSON maps a message. It gets an id, a date and a chat if it has none.
func mapJSON(t *testing.T, kind, fields string) mapped {
	t.Helper()
	raw := `{"update_id":1,"` + kind + `":{"message_id":5,"date":1700000000,"chat":{"id":-1001,"type":"supergroup","title":"Team"},` +
		`"from":{"id":7,"is_bot":false,"first_name":"Ann","last_name":"Lee","username":"ann"},` + fields + `}}`
	var u update
	if err := json.Unmarshal([]byte(raw), &u); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	m, ok := testMapper().inbound(u)
	if !ok {
		t.Fatalf("not a message: %s", raw)
	}
	return m
}

func TestMapsAMessage(t *testing.T) {
	got := mapJSON(t, "message", `"text":"hi","reply_to_message":{"message_id":3,"from":{"id":8}}`)
	want := platform.Inbound{
		ChatKey: "telegram-chat--1001", IngressID: "5", Kind: platform.KindMessage,
		Chat:   platform.ChatInfo{ID: "-1001", Type: "supergroup", Title: "Team"},
		Sender: platform.Person{ID: "7", Name: "Ann Lee"}, MessageID: "5", ReplyTo: "3", Time: time.Unix(1700000000, 0).UTC(), Text: "hi", Order: 5,
	}
	stdtest.Diff(t, "", want, got.in, cmpopts.IgnoreFields(platform.Inbound{}, "RequestID"))
	if len(got.in.RequestID) != 12 {
		t.Errorf("request id %q", got.in.RequestID)
	}
}

func TestTopics(t *testing.T) {
	cases := []struct{ name, fields, key, reply string }{
		{"topic", `"is_topic_message":true,"message_thread_id":7`, "telegram-chat--1001-topic-7", ""},
		{"general topic", `"is_topic_message":true,"message_thread_id":1`, "telegram-chat--1001", ""},
		{"general topic without id", `"text":"x"`, "telegram-chat--1001", ""},
		{"reply in an ordinary supergroup", `"message_thread_id":3,"reply_to_message":{"message_id":3}`, "telegram-chat--1001", "3"},
		{"first in a topic", `"is_topic_message":true,"message_thread_id":7,"reply_to_message":{"message_id":7,"from":{"id":9},"forum_topic_created":{}}`, "telegram-chat--1001-topic-7", ""},
		{"reply in a topic", `"is_topic_message":true,"message_thread_id":7,"reply_to_message":{"message_id":8,"from":{"id":9}}`, "telegram-chat--1001-topic-7", "8"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := mapJSON(t, "message", c.fields)
			if string(got.in.ChatKey) != c.key || got.in.ReplyTo != c.reply {
				t.Errorf("key %q reply %q, want %q %q", got.in.ChatKey, got.in.ReplyTo, c.key, c.reply)
			}
			if (got.facts.Addressed == botkit.AddressedReply) != (c.reply == "8") {
				t.Errorf("addressed %q", got.facts.Addressed)
			}
		})
	}
}

func TestAddressedByEntitiesOnly(t *testing.T) {
	cases := []struct {
		name, fields string
		want         botkit.Addressing
	}{
		{"nothing", `"text":"hi"`, botkit.AddressedNot},
		{"the name without an entity", `"text":"hi @sample_bot"`, botkit.AddressedNot},
		{"mention", `"text":"hi @sample_bot","entities":[{"type":"mention","offset":3,"length":11}]`, botkit.AddressedMention},
		{"mention behind emoji", `"text":"😀😀 @Sample_Bot!","entities":[{"type":"mention","offset":5,"length":11}]`, botkit.AddressedMention},
		{"a longer name", `"text":"@sample_bot2","entities":[{"type":"mention","offset":0,"length":12}]`, botkit.AddressedNot},
		{"the name in a link", `"text":"x.y/@sample_bot","entities":[{"type":"url","offset":0,"length":15}]`, botkit.AddressedNot},
		{"mention in a caption", `"caption":"@sample_bot","caption_entities":[{"type":"mention","offset":0,"length":11}],"photo":[{"file_id":"a"}]`, botkit.AddressedMention},
		{"text mention", `"text":"you","entities":[{"type":"text_mention","offset":0,"length":3,"user":{"id":9}}]`, botkit.AddressedMention},
		{"text mention of another", `"text":"you","entities":[{"type":"text_mention","offset":0,"length":3,"user":{"id":8}}]`, botkit.AddressedNot},
		{"entity beyond the text", `"text":"ab","entities":[{"type":"mention","offset":1,"length":900}]`, botkit.AddressedNot},
		{"reply to us", `"text":"x","reply_to_message":{"message_id":2,"from":{"id":9}}`, botkit.AddressedReply},
		{"reply to another", `"text":"x","reply_to_message":{"message_id":2,"from":{"id":8}}`, botkit.AddressedNot},
		{"command for us", `"text":"/stop@sample_bot all"`, botkit.AddressedCommand},
		{"unknown command for us", `"text":"/weather@sample_bot"`, botkit.AddressedCommand},
		{"command for another", `"text":"/stop@other_bot"`, botkit.AddressedOtherBot},
		{"bare command", `"text":"/stop"`, botkit.AddressedNot},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := mapJSON(t, "message", c.fields).facts.Addressed; got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestCommands(t *testing.T) {
	cases := []struct {
		text, name, args string
	}{
		{"/stop", "stop", ""},
		{"/stop ALL", "stop", "all"},
		{"/Stop@Sample_Bot", "stop", ""},
		{"@sample_bot /stop", "stop", ""},
		{"/start CODE1234", "start", "CODE1234"},
		{"/new  a title\nmore", "new", "a title\nmore"},
		{"/stop@other_bot", "", ""},
		{"/unknown x", "", ""},
		{"/usr/bin/env", "", ""},
		{"/", "", ""},
		{"/stop@", "", ""},
		{" /stop", "", ""},
		{"please /stop", "", ""},
	}
	for _, c := range cases {
		t.Run(c.text, func(t *testing.T) {
			raw, _ := json.Marshal(c.text)
			got := mapJSON(t, "message", `"text":`+string(raw)).in
			if got.Command.Name != c.name || got.Command.Args != c.args || (got.Kind == platform.KindCommand) != (c.name != "") {
				t.Errorf("got %s %+v", got.Kind, got.Command)
			}
			if got.Text != c.text {
				t.Errorf("the words were changed: %q", got.Text)
			}
		})
	}
}

func TestMedia(t *testing.T) {
	cases := []struct{ name, fields, text, placeholder, data string }{
		{"photo", `"photo":[{"file_id":"s"},{"file_id":"l","file_size":9}],"caption":"see"`, "see", "[photo]", `{"kind":"photo","fileId":"l","size":9}`},
		{"hostile name", `"document":{"file_id":"d","file_name":"../a]\n\u202eb.pdf","mime_type":"x/y"}`, "", "[document a) b.pdf]", `{"kind":"document","fileId":"d","name":"a] b.pdf","mimeType":"x/y"}`},
		{"voice", `"voice":{"file_id":"v","duration":3}`, "", "[voice 3 s]", `{"kind":"voice","fileId":"v","seconds":3}`},
		{"sticker", `"sticker":{"file_id":"t","emoji":"😀"}`, "", "[sticker 😀]", `{"kind":"sticker","fileId":"t"}`},
		{"animated sticker", `"sticker":{"file_id":"t","emoji":"😀","is_animated":true,"thumbnail":{"file_id":"s"}}`, "", "[sticker 😀]", `{"kind":"sticker","fileId":"s"}`},
		{"video sticker without a picture", `"sticker":{"file_id":"t","emoji":"😀","is_video":true}`, "", "[sticker 😀]", ""},
		{"animation", `"animation":{"file_id":"a"},"document":{"file_id":"a"}`, "", "[animation]", `{"kind":"animation","fileId":"a"}`},
		{"location", `"location":{"latitude":1.5,"longitude":-2}`, "", "[location 1.50000,-2.00000]", ""},
		{"contact", `"contact":{"phone_number":"+1","first_name":"Bo"}`, "", "[contact Bo +1]", ""},
		{"poll", `"poll":{"question":"Why?"}`, "", "[poll Why?]", ""},
		{"venue", `"venue":{"title":"Bar","address":"1 St"},"location":{}`, "", "[venue Bar 1 St]", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := mapJSON(t, "message", c.fields).in
			want := []uimessage.Part{uimessage.Text{Text: c.placeholder}}
			if c.data != "" {
				want = append(want, uimessage.Data{Name: platform.FilePart, Data: json.RawMessage(c.data)})
			}
			if diff := cmp.Diff(want, got.Parts); diff != "" || got.Text != c.text {
				t.Errorf("text %q, parts (-want +got):\n%s", got.Text, diff)
			}
		})
	}
}

func TestKindsOfContent(t *testing.T) {
	cases := []struct {
		name, kind, fields string
		want               botkit.Facts
	}{
		{"service", "message", `"new_chat_members":[{"id":1}]`, botkit.Facts{ChatType: "supergroup", Content: botkit.ContentService}},
		{"live location", "edited_message", `"location":{"latitude":1,"live_period":60},"edit_date":2`, botkit.Facts{ChatType: "supergroup", Content: botkit.ContentLive}},
		{"anonymous", "message", `"text":"x","sender_chat":{"id":-1001},"from":{"id":1087968824,"is_bot":true}`, botkit.Facts{ChatType: "supergroup", Bot: true, Anonymous: true}},
		{"bot", "message", `"text":"x","from":{"id":3,"is_bot":true}`, botkit.Facts{ChatType: "supergroup", Bot: true}},
		{"channel", "channel_post", `"text":"x","chat":{"id":-5,"type":"channel","title":"News"}`, botkit.Facts{ChatType: "channel"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := mapJSON(t, c.kind, c.fields).facts; got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestDecodeUpdatesLeavesBadOnesOut(t *testing.T) {
	good, bad, err := decodeUpdates([]byte(`[{"update_id":1,"message":{"message_id":1}},{"update_id":2,"message":{"message_id":"x"}},{"update_id":"y"},7,{"update_id":5}]`))
	stdtest.Must(t, err)
	var ids []int64
	for _, u := range good {
		ids = append(ids, u.ID)
	}
	if diff := cmp.Diff([]int64{1, 5}, ids); diff != "" {
		t.Errorf("good: %s", diff)
	}
	if diff := cmp.Diff([]int64{2, 0, 0}, bad); diff != "" {
		t.Errorf("bad: %s", diff)
	}
	if _, _, err := decodeUpdates([]byte(`{"no":"list"}`)); err == nil {
		t.Error("an object was taken as a batch")
	}
}

func FuzzMapper(f *testing.F) {
	for _, s := range []string{
		`[{"update_id":1,"message":{"message_id":1,"date":1,"chat":{"id":1,"type":"private"},"from":{"id":1},"text":"/stop@sample_bot all","entities":[{"type":"mention","offset":0,"length":2}]}}]`,
		`[{"update_id":2,"edited_message":{"message_id":1,"chat":{"id":-1,"type":"group"},"caption":"😀","photo":[{}],"caption_entities":[{"type":"mention","offset":1,"length":1}]}}]`,
		`[{"update_id":6,"message":{"message_id":2,"chat":{"id":1},"text":"x","quote":{"text":"q"},"reply_to_message":{"message_id":1,"sender_chat":{"id":-1,"title":"T\n"},"photo":[{}]}}}]`,
		`[{"update_id":3,"channel_post":{"message_id":1,"chat":{"id":-1},"document":{"file_name":"[\u0000"}}},{"update_id":5,"message":{"message_id":2,"chat":{"id":-2},"media_group_id":"g\n","migrate_to_chat_id":-3,"document":{"file_id":"f","file_name":"../../x\u0000","file_size":-1}}},{"update_id":4,"message":null}]`,
	} {
		f.Add([]byte(s))
	}
	m := testMapper()
	m.origin = func(chat string) string { return strings.Replace(chat, "-2", "-1", 1) }
	f.Fuzz(func(t *testing.T, raw []byte) {
		updates, _, err := decodeUpdates(raw)
		if err != nil {
			return
		}
		for _, u := range updates {
			got, ok := m.inbound(u)
			if !ok {
				continue
			}
			in := got.in
			if _, err := messages.ParseChatKey(string(in.ChatKey)); err != nil || in.IngressID == "" || in.MessageID == "" || in.Sender.Name == "" {
				t.Errorf("bad inbound %+v: %v", in, err)
			}
			if !utf8.ValidString(in.Text) || !utf8.ValidString(in.Sender.Name) || strings.ContainsAny(in.Sender.Name+in.Chat.Title, "\n\x00") {
				t.Errorf("bad text in %+v", in)
			}
			if a, ok := in.ChatKey.Address(); !ok || a.Chat != in.Chat.ID {
				t.Errorf("key %q of chat %q", in.ChatKey, in.Chat.ID)
			}
			if q := in.Answers; q != nil && (q.Text == "" || utf8.RuneCountInString(q.Text) > maxAnswered+1 || !utf8.ValidString(q.Text) || strings.ContainsAny(q.From, "\n\x00")) {
				t.Errorf("answers %+v", q)
			}
			for _, part := range in.Parts {
				if f, ok := platform.FileOf(part); ok && (!f.Unfetched() || len(f.FileID) > 512 || f.Size < 0 || strings.ContainsAny(f.Name, "/\\\n\x00")) {
					t.Errorf("file %+v", f)
				}
			}
			if g := botkit.Gate(got.facts, botkit.Rules{Access: platform.AccessOwner, Groups: platform.GroupsAll, Member: platform.AccessOpen}); g.Open || g.Reason == "" {
				t.Errorf("a stranger got in: %+v", g)
			}
		}
	})
}

func BenchmarkBatch(b *testing.B) {
	one := `{"update_id":1,"message":{"message_id":5,"date":1700000000,"chat":{"id":1001,"type":"private","first_name":"Ann","username":"ann"},` +
		`"from":{"id":7,"is_bot":false,"first_name":"Ann","last_name":"Lee","username":"ann","language_code":"en"},"text":"a usual message of a person"}}`
	raw := []byte("[" + strings.Repeat(one+",", 99) + one + "]")
	m := testMapper()
	b.ReportAllocs()
	for b.Loop() {
		updates, _, err := decodeUpdates(raw)
		stdtest.Must(b, err)
		for _, u := range updates {
			m.inbound(u)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100, "ns/update")
}
