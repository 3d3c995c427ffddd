package host

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/actors/scenariotest"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishutest"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// Every file of testdata/feishu shows one behaviour of Feishu with a whole host: prose,
// a script of what people do, and the calls that the open platform gets for it. The
// words of a script, beside those of the model (see scenario_words_test.go), are:
//
//	set KEY VALUE                 a setting; a key without a dot is one of adapters.feishu
//	chat ID p2p|group|topic_group
//	show files, show apart (calls in the order of their text: several chats at once have none)
//	say WHO CHAT WORDS            @bot names the bot by its id
//	reply WHO CHAT LABEL WORDS    bot#N is the bot's n-th message in the chat
//	topic WHO CHAT LABEL WORDS    in the topic that this message opened
//	send WHO CHAT image|file|audio|media|sticker NAME    of audio, which is a voice: its length
//	post WHO CHAT CONTENT         rich text; {image 0} and {image 1} are images
//	forward WHO CHAT WORDS        by Eve first
//	recall WHO#N
//	press WHO CHAT BUTTON         of the newest message that has it, or had it
//	join WHO CHAT NAME, leave WHO CHAT NAME, disband WHO CHAT NAME    of the bot
//	repeat                        the service brings everything once more
//	withhold SCOPE, fail PATH STATUS CODE [times=N]
//	await PATH N                  calls
//	take NAME CHAT PATTERN        what the pattern finds in the bot's last message there is $NAME
//	meter                         the model is asked over HTTP, so that its use counts
//	admins CHAT [WHO ...]         the first as the group's owner; a minute passes
//	expire                        a restart, half an hour after all that was asked
//	release GATE, restart
func TestFeishuScenarios(t *testing.T) {
	scenariotest.Play(t, "testdata/feishu/*.txtar", 8, wanted, *update, func(t *testing.T, script string) map[string]string {
		t.Helper()
		t.Parallel() // much of it is waiting
		s := newFeishuScene(t)
		s.playFeishu(script)
		got := map[string]string{"calls": s.showFeishuCalls(), "answers": s.names(s.answers), "audio": s.showSounds(), "model": s.showRequests(), "fates": s.showFates("feishu")}
		if s.folder {
			got["files"] = s.names(stdtest.Names(t, filepath.Join(s.p.dir, ".ship", "files")))
		}
		return got
	})
}

// feishuScene is a script being played over Feishu.
type feishuScene struct {
	*scene

	api *feishutest.API
	ids map[string]string // of messages, by label: ann#1

	offered map[string][]feishutest.Button // that a message has had, by its id
	answers []string                       // to presses of buttons
}

func (s *feishuScene) playFeishu(script string) {
	s.t.Helper()
	s.each(script, func(verb, rest string) (bool, error) {
		err := s.doFeishu(verb, rest)
		return s.h != nil, err
	}, s.restFeishu)
}

func (s *feishuScene) doFeishu(verb, rest string) error {
	word, more, _ := strings.Cut(rest, " ")
	switch verb {
	case "set":
		if !strings.Contains(word, ".") {
			word = "adapters.feishu." + word
		}
		s.flags[word] = more
	case "chat":
		s.api.AddChat(word, more)
		s.keys = append(s.keys, messages.NewChatKey("feishu", "", word, 0))
	case "name":
		s.api.SetName("ou_"+word, more)
	case "show":
		s.folder = s.folder || word == "files"
		s.shown = append(s.shown, word)
	case "model", "hears", "speaks", "write":
		return s.prepare(verb, rest)
	case "release":
		return s.release(rest)
	case "restart", "expire":
		s.stop()
		if verb == "expire" {
			s.expireRequests()
		}
		s.h = nil
		s.beginFeishu()
	case "admins":
		var ids []string
		for who := range strings.FieldsSeq(more) {
			ids = append(ids, "ou_"+who)
		}
		s.api.SetAdmins(word, append(ids, "")[0], ids[min(1, len(ids)):]...)
		s.minute()
	case "await":
		n, err := strconv.Atoi(more)
		s.api.Await(s.t, rest, func() bool { return len(s.api.Calls(word)) >= n })
		return err
	case "take":
		var all []said
		chat, pattern, _ := strings.Cut(more, " ")
		for _, m := range s.api.Sent(chat) {
			all = append(all, said{text: m.Text})
		}
		if !s.take(word, pattern, all) {
			return fmt.Errorf("the bot said nothing like that")
		}
	case "meter":
		server := modeltest.NewServer(s.model, modeltest.ServerOptions{})
		s.t.Cleanup(server.Close)
		s.metered, s.flags["llm.provider"], s.flags["llm.baseUrl"], s.flags["llm.model"] = true, "custom", server.URL, "m"
	case "withhold":
		s.api.Withhold(true, word)
	case "fail":
		return s.failFeishu(word, strings.Fields(more))
	default:
		s.beginFeishu()
		return s.happens(verb, word, more)
	}
	return nil
}

func (s *feishuScene) failFeishu(path string, words []string) error {
	f := feishutest.Fault{Path: path, Kind: faketest.Refuse, Text: "scripted"}
	for i, w := range words {
		n, err := strconv.Atoi(strings.TrimPrefix(w, "times="))
		if err != nil {
			return err
		}
		switch i {
		case 0:
			f.Status = n
		case 1:
			f.Code = n
		default:
			f.N = n
		}
	}
	s.api.Fail(f)
	return nil
}

// happens is what somebody does.
func (s *feishuScene) happens(verb, who, rest string) error {
	chat, text, _ := strings.Cut(rest, " ")
	from, more := "ou_"+who, map[string]any{}
	label := func(id string) {
		s.counts[who]++
		s.ids[who+"#"+strconv.Itoa(s.counts[who])] = id
	}
	switch verb {
	case "reply", "topic":
		of, words, _ := strings.Cut(text, " ")
		id, err := s.messageOf(chat, of)
		if err != nil {
			return err
		}
		more[map[string]string{"reply": "parent_id", "topic": "root_id"}[verb]] = id
		label(s.sayFeishu(chat, from, words, more))
	case "say":
		label(s.sayFeishu(chat, from, text, more))
	case "send":
		kind, name, _ := strings.Cut(text, " ")
		content := contentOf(name)
		if kind == "audio" {
			says, sound, err := length(name)
			if err != nil {
				return err
			}
			name, content, more["duration"] = "", sound, 1000*says
		}
		label(s.api.SayFile(chat, from, kind, name, content, more))
	case "post":
		label(s.api.SayPost(chat, from, text, [][]byte{[]byte("first"), []byte("second")}, nil))
	case "forward":
		raw, err := json.Marshal(map[string]string{"text": text})
		if err != nil {
			return err
		}
		label(s.api.SayForwarded(chat, from, []feishutest.Forwarded{{From: "ou_eve", Kind: "text", Content: string(raw)}}, nil))
	case "recall":
		id, ok := s.ids[who]
		if !ok {
			return fmt.Errorf("no message %s", who)
		}
		s.api.Recall(chat, id, "message_owner")
	case "pair": // WHO CHAT: becomes the owner
		code, err := s.h.access.OwnerCode(s.t.Context(), "feishu")
		if err != nil {
			return err
		}
		label(s.api.Say(chat, from, "/start "+code, more))
	case "press":
		return s.pressFeishu(chat, from, text)
	case "join":
		s.api.Join(chat, from, text)
	case "leave":
		s.api.Leave(chat, from, text)
	case "disband":
		s.api.Disband(chat, from, text)
	case "repeat":
		s.api.Repeat()
	default:
		return fmt.Errorf("no such word")
	}
	return nil
}

// messageOf is the id of a message in a chat, by its label.
func (s *feishuScene) messageOf(chat, label string) (string, error) {
	if n, err := strconv.Atoi(strings.TrimPrefix(label, "bot#")); err == nil {
		if sent := s.api.Sent(chat); n >= 1 && n <= len(sent) {
			return sent[n-1].ID, nil
		}
	}
	if id, ok := s.ids[label]; ok {
		return id, nil
	}
	return "", fmt.Errorf("no message %s", label)
}

// sayFeishu makes somebody write words, with a mention of the bot if they begin with @bot.
func (s *feishuScene) sayFeishu(chat, from, words string, more map[string]any) string {
	if rest, named := strings.CutPrefix(words, "@bot"); named {
		raw, err := json.Marshal(map[string]string{"text": "@_user_1" + rest})
		stdtest.Must(s.t, err)
		more["content"], more["mentions"] = string(raw), []any{feishutest.Mention("@_user_1", feishutest.Bot, "Sample")}
	}
	return s.api.Say(chat, from, words, more)
}

func (s *feishuScene) pressFeishu(chat, from, button string) error {
	for _, m := range slices.Backward(s.api.Sent(chat)) {
		if len(s.offered[m.ID]) == 0 {
			s.offered[m.ID] = s.api.Buttons(m.ID)
		}
		for _, b := range s.offered[m.ID] {
			if strings.Contains(b.Text, button) {
				answer, err := s.api.Press(s.t.Context(), chat, m.ID, from, b.Value, nil)
				s.answers = append(s.answers, from+" "+s.showAnswer(answer))
				return err
			}
		}
	}
	return fmt.Errorf("no button %s", button)
}

// showAnswer is what the answer to a button shows: to who pressed, and to all in the
// platformStart of the message.
func (s *feishuScene) showAnswer(answer map[string]any) string {
	toast, _ := answer["toast"].(map[string]any)
	text, _ := toast["content"].(string)
	if card, err := json.Marshal(answer["card"]); err == nil && answer["card"] != nil {
		text += " card=" + strconv.Quote(short(s.same(seen(string(card)))))
	}
	return text
}

// beginFeishu starts the host with the first thing that happens.
func (s *feishuScene) beginFeishu() {
	s.t.Helper()
	if s.h == nil {
		s.start("SMA_ADAPTERS_FEISHU_APP_SECRET="+s.api.Secret(), "SMA_ADAPTERS_FEISHU_ENCRYPT_KEY="+s.api.EncryptKey())
		s.api.Await(s.t, "a connection", func() bool { open, _ := s.api.Links(); return open > 0 })
	}
}

// restFeishu waits until everything has happened that needs nothing from outside.
func (s *feishuScene) restFeishu(what string) {
	s.t.Helper()
	if s.h == nil {
		return
	}
	faketest.Poll(s.t, "rest after "+what, func() bool {
		if _, waiting, _ := s.api.Pushed(); waiting > 0 || !s.api.Idle() || !s.questionsEnded("feishu") {
			return false
		}
		return s.settled("feishu")
	})
	s.rests = append(s.rests, len(s.api.Calls("/open-apis/")))
}

func (s *feishuScene) names(texts []string) string {
	var out strings.Builder
	for _, x := range texts {
		fmt.Fprintln(&out, s.plain(x))
	}
	return out.String()
}

// plain takes out of a text what is another each time.
func (s *feishuScene) plain(text string) string {
	for label, id := range s.ids {
		text = strings.ReplaceAll(text, id, "<"+label+">")
	}
	for _, r := range []struct{ pattern, by string }{
		{`\b[A-Z0-9]{8}\b`, "<CODE>"}, {`om_x[0-9a-f]{32}`, "<message>"}, {`(img_v3_|file_v3_)[0-9a-f]{32}`, "$1<key>"}, {`/cards/7[0-9a-f]{32}`, "/cards/<card>"}, {`"7[0-9a-f]{32}"`, `"<card>"`},
	} {
		text = regexp.MustCompile(r.pattern).ReplaceAllString(text, r.by)
	}
	return s.same(text)
}

// showFeishuCalls are the calls with the members that matter.
func (s *feishuScene) showFeishuCalls() string {
	var rows []string
	for _, c := range outcomesLast(s.api.Calls("/open-apis/"), s.rests, func(c feishutest.Call) bool {
		return c.Method == http.MethodPatch && strings.Contains(c.Path, "/messages/")
	}) {
		if strings.Contains(c.Path, "/auth/") || strings.Contains(c.Path, "/bot/") || strings.Contains(c.Path, "/contact/") {
			continue
		}
		row := c.Method + " " + strings.TrimPrefix(c.Path, "/open-apis/")
		for _, name := range []string{"receive_id", "msg_type", "content", "type", "settings", "image_type", "file_type", "file_name", "duration"} {
			v, ok := c.Body[name].(string)
			if name == "content" && strings.HasPrefix(v, "{") {
				v = seen(v)
			}
			if ok {
				row += " " + name + "=" + strconv.Quote(short(s.same(v)))
			}
		}
		if c.Code != 0 {
			row += " => " + strconv.Itoa(c.Code)
		}
		rows = append(rows, s.plain(row))
	}
	if slices.Contains(s.shown, "apart") {
		slices.Sort(rows)
	}
	return strings.Join(rows, "\n") + "\n"
}

// seen are the texts of a content, in order.
func seen(content string) string {
	var out []string
	for _, m := range regexp.MustCompile(`"(?:text|content|href|image_key|file_key|card_id)":("(?:[^"\\]|\\.)*")`).FindAllStringSubmatch(content, -1) {
		if text, err := strconv.Unquote(m[1]); err == nil {
			out = append(out, text)
		}
	}
	return strings.Join(out, " | ")
}
