package host

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// migrate gives a group another id, as the service tells of it.
func (s *scene) migrate(rest string) error {
	a, b, _ := strings.Cut(rest, " ")
	from, err := strconv.ParseInt(a, 10, 64)
	if err != nil {
		return err
	}
	to, err := strconv.ParseInt(b, 10, 64)
	if err != nil {
		return err
	}
	s.p.api.AddChat(telegramtest.Chat{ID: to, Type: "supergroup", Title: "Group"})
	s.chats, s.moved[to] = append(s.chats, to), from
	s.p.api.Say(from, 1, "", map[string]any{"text": nil, "migrate_to_chat_id": to})
	s.p.api.Migrate(from, to)
	s.p.api.Say(to, 1, "", map[string]any{"text": nil, "migrate_from_chat_id": from})
	return nil
}

// member makes the bot another kind of member of a group.
func (s *scene) member(rest string) error {
	p, _, word, status, _, err := s.who(rest)
	if err != nil {
		return err
	}
	at, err := s.spot(word)
	if err != nil {
		return err
	}
	who := from(p)
	if p.name == "Robot" {
		who["is_bot"] = true
	}
	s.label("member", said{spot: at, update: s.p.api.Member(at.chat, who, status)})
	return nil
}

// questionsEnded reports that no question to an owner has buttons that mean nothing any more.
func (s *scene) questionsEnded(bot string) bool {
	return s.h.access == nil || !slices.ContainsFunc(s.h.access.Account(bot).Ended, func(e platform.Ended) bool { return !e.Seen && e.Message != "" })
}

func (s *scene) pair(rest string) error {
	who, place, _ := strings.Cut(rest, " ")
	sum, err := s.h.Summary(s.t.Context())
	if err != nil || sum.OwnerCode == "" {
		return fmt.Errorf("no code: %w", err)
	}
	s.vars["CODE"] = sum.OwnerCode
	return s.say(who + " " + place + " /start " + sum.OwnerCode)
}

func (s *scene) meddle(verb, rest string) error {
	fields := strings.Fields(rest)
	switch {
	case verb == "await" && len(fields) == 2:
		n, err := strconv.Atoi(fields[1])
		s.await(fields[0], n)
		return err
	case verb == "take" && len(fields) > 1:
		if !s.take(fields[0], strings.Join(fields[1:], " "), s.sent()) {
			return fmt.Errorf("not found")
		}
	case verb == "kept" && len(fields) == 1:
		names := stdtest.Names(s.t, filepath.Join(s.p.dir, ".ship", "files"))
		if len(names) == 0 {
			return fmt.Errorf("nothing was kept")
		}
		s.vars[fields[0]] = names[len(names)-1]
	case verb == "forbid" && len(fields) == 2:
		chat, err := strconv.ParseInt(fields[1], 10, 64)
		if fields[0] == "drafts" {
			s.p.api.ForbidDrafts(chat)
		} else {
			s.p.api.ForbidReactions(chat)
		}
		return err
	case verb == "fail" && len(fields) > 1:
		f := telegramtest.Fault{Method: fields[0], Kind: faketest.Refuse}
		f.Code, _ = strconv.Atoi(fields[1])
		for _, w := range fields[2:] {
			if n, ok := strings.CutPrefix(w, "retry="); ok {
				f.RetryAfter, _ = strconv.Atoi(n)
			} else if n, ok := strings.CutPrefix(w, "times="); ok {
				f.N, _ = strconv.Atoi(n)
			} else {
				f.Text = strings.TrimSpace(f.Text + " " + w)
			}
		}
		s.p.api.Fail(f)
	default:
		return fmt.Errorf("no such word")
	}
	return nil
}

// Methods that say nothing of a behaviour.
func quiet() []string {
	return []string{"getUpdates", "getMe", "getWebhookInfo", "deleteWebhook", "setMyCommands", "sendChatAction", "getFile", "download", "setMessageReaction"}
}

// show returns the results of a script, in the form of the wanted parts.
func (s *scene) show(script string) map[string]string {
	out := map[string]string{"calls": s.showCalls(script), "marks": s.showMarks(), "audio": s.showSounds(), "model": s.showRequests(), "fates": s.showFates("telegram")}
	if s.folder {
		var names strings.Builder
		for _, name := range stdtest.Names(s.t, filepath.Join(s.p.dir, ".ship", "files")) {
			fmt.Fprintln(&names, s.same(name))
		}
		out["files"] = names.String()
	}
	return out
}

// same takes out of a text what is another each time.
func (s *scene) same(text string) string {
	for name, value := range s.vars {
		text = strings.ReplaceAll(text, value, "<"+name+">")
	}
	for _, r := range []struct{ pattern, by string }{
		{`\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?([+-]\d\d:\d\d|Z)?`, "<time>"},
		{`(owner this code: |交给我的主人：)[0-9A-Z]{8}`, "$1<code>"},
		{`\d\d:\d\d:\d\d`, "<time>"},
		{`\w+day, \d+ \w+ \d{4}, (<time>|\d\d:\d\d)|\d+ 年 \d+ 月 \d+ 日（星期.）(<time>|\d\d:\d\d)`, "<time>"},
		{`(Mon|Tue|Wed|Thu|Fri|Sat|Sun|周[一二三四五六日]) <time>`, "<time>"},
		{`about \d+ tokens`, "about <n> tokens"},
		{`约占 \d+ 个`, "约占 <n> 个"},
		{`(taskId: task)-[0-9a-f]{8}`, "$1-<id>"},
		{`(durationMs\\*":)\d+`, "$1<n>"},
		{`("taskId":"task)-[0-9a-f]{8}`, "$1-<id>"},
		{`file-[0-9a-f]{16}`, "file-<id>"},
		{`(picture|document)-[0-9a-f]{32}`, "$1-<digest>"},
		{`speech-[0-9a-f]{24}`, "speech-<id>"},
		{`(request|run) [a-z0-9_]{10,}`, "$1 <id>"},
		{`(results/)[^/]+/`, "$1<chat>/"},
	} {
		text = regexp.MustCompile(r.pattern).ReplaceAllString(text, r.by)
	}
	return text
}

// inOrder returns the calls with the answer to each press right after it, because other effects of a press happen at
// the same time.
func (s *scene) inOrder() []telegramtest.Call {
	type placed struct {
		telegramtest.Call
		at int
	}
	var calls []placed
	presses := 0
	for i, c := range s.p.api.Calls("") {
		at := 2*i + 1
		if c.Method == "answerCallbackQuery" && presses < len(s.presses) {
			at = 2 * s.presses[presses]
			presses++
		}
		calls = append(calls, placed{c, at})
	}
	slices.SortStableFunc(calls, func(a, b placed) int { return cmp.Compare(a.at, b.at) })
	var out []telegramtest.Call
	for _, c := range calls {
		out = append(out, c.Call)
	}
	return outcomesLast(out, s.rests, func(c telegramtest.Call) bool { return c.Method == "editMessageReplyMarkup" })
}

// outcomesLast returns the calls of each line of a script with those that show outcomes last. Outcomes replace buttons
// a moment later, while other messages are sent.
func outcomesLast[C any](calls []C, rests []int, shows func(C) bool) []C {
	var out, late []C
	for i, c := range calls {
		if slices.Contains(rests, i) {
			out, late = append(out, late...), nil
		}
		if shows(c) {
			late = append(late, c)
		} else {
			out = append(out, c)
		}
	}
	return append(out, late...)
}

func (s *scene) showCalls(script string) string {
	var all []telegramtest.Call
	for _, c := range s.inOrder() {
		if slices.Contains(s.hidden, c.Method) || slices.Contains(quiet(), c.Method) && !slices.Contains(s.shown, c.Method) {
			continue
		}
		all = append(all, c)
	}
	if slices.Contains(s.shown, "apart") { // what happens in several chats at once has no order, nor has the end of buttons
		buttons := func(c telegramtest.Call) int { return strings.Count(c.Method, "ReplyMarkup") }
		slices.SortStableFunc(all, func(a, b telegramtest.Call) int {
			return cmp.Or(cmp.Compare(a.Params.Int("chat_id"), b.Params.Int("chat_id")), buttons(a)-buttons(b))
		})
	}
	ids, names := s.sentIDs(all), s.names()
	var rows []string
	for i, c := range all {
		rows = append(rows, s.showCall(c, names)+ids[i])
	}
	text := strings.Join(rows, "\n")
	const named = `bot(?:@-?\d+)?#\d+`
	if slices.Contains(s.shown, "apart") && !regexp.MustCompile(named).MatchString(script) {
		text = regexp.MustCompile(`( ->)? `+named).ReplaceAllString(text, "")
	}
	return regexp.MustCompile(` -> `+named).ReplaceAllStringFunc(text, func(m string) string {
		if label := regexp.MustCompile(m[4:] + `\b`); len(label.FindAllString(text, -1)) > 1 || label.MatchString(script) {
			return m
		}
		return "" // nothing speaks of it
	}) + "\n"
}

// sentIDs say which message each send made.
func (s *scene) sentIDs(calls []telegramtest.Call) map[int]string {
	place := map[int64][]int64{}
	for _, m := range s.sent() {
		place[m.chat] = append(place[m.chat], m.id)
	}
	names, out := s.names(), map[int]string{}
	for i, c := range calls {
		chat := c.Params.Int("chat_id")
		if !strings.HasPrefix(c.Method, "send") || c.Method == "sendMessageDraft" || c.Method == "sendChatAction" || c.Code != 200 || len(place[chat]) == 0 {
			continue
		}
		out[i] = " -> " + names[spot{chat, place[chat][0]}]
		place[chat] = place[chat][1:]
	}
	return out
}

// names are the labels of all messages, by chat and id. Where chats are shown apart, the
// bot's are counted in each.
func (s *scene) names() map[spot]string {
	out, apart, counts := map[spot]string{}, slices.Contains(s.shown, "apart"), map[int64]int{}
	for label, m := range s.spoken {
		out[spot{m.chat, m.id}] = label
	}
	for i, m := range s.sent() {
		counts[m.chat]++
		out[spot{m.chat, m.id}] = "bot#" + strconv.Itoa(i+1)
		if apart {
			out[spot{m.chat, m.id}] = fmt.Sprintf("bot@%d#%d", m.chat, counts[m.chat])
		}
	}
	return out
}

func (s *scene) showCall(c telegramtest.Call, names map[spot]string) string {
	p, line := c.Params, c.Method
	chat := p.Int("chat_id")
	if chat != 0 {
		line += " " + strconv.FormatInt(chat, 10)
	}
	if topic := p.Int("message_thread_id"); topic != 0 {
		line += "/" + strconv.FormatInt(topic, 10)
	}
	var reply struct {
		ID int64 `json:"message_id"`
	}
	if json.Unmarshal([]byte(p.Text("reply_parameters")), &reply) == nil && reply.ID != 0 {
		line += " to " + names[spot{chat, reply.ID}]
	}
	if id := p.Int("message_id"); id != 0 {
		line += " " + names[spot{chat, id}]
	}
	for _, name := range []string{"file_name", "language_code", "action"} {
		if v := p.Text(name); v != "" {
			line += " " + s.same(v)
		}
	}
	if v := p.Text("duration"); v != "" {
		line += " " + v + " s"
	}
	if p.Text("parse_mode") == "HTML" {
		line += " html"
	}
	for _, name := range []string{"text", "caption"} {
		if v := p.Text(name); v != "" {
			line += " " + strconv.Quote(short(s.same(v)))
		}
	}
	line += showRich(s.same(p.Text("rich_message")))
	if p.Text("show_alert") == "true" {
		line += " alert"
	}
	line += showButtons(p.Text("reply_markup")) + showMenu(p.Text("commands"))
	if c.Code != 200 {
		line += " => " + strconv.Itoa(c.Code)
	}
	return line
}

// showMarks are the calls of setMessageReaction, by message.
func (s *scene) showMarks() string {
	names, marks := s.names(), map[string]string{}
	for _, c := range s.answered("setMessageReaction") {
		chat := c.Params.Int("chat_id")
		m := "setMessageReaction " + strconv.FormatInt(chat, 10) + " " + names[spot{chat, c.Params.Int("message_id")}]
		var list []struct{ Emoji string }
		if json.Unmarshal([]byte(c.Params.Text("reaction")), &list) == nil && len(list) > 0 {
			marks[m] += " " + list[0].Emoji
		} else {
			marks[m] += " none"
		}
		if c.Code != 200 {
			marks[m] += " => " + strconv.Itoa(c.Code)
		}
	}
	var out strings.Builder
	for _, m := range slices.Sorted(maps.Keys(marks)) {
		fmt.Fprintln(&out, m+marks[m])
	}
	return out.String()
}

func showButtons(raw string) string {
	var k struct {
		Rows [][]struct{ Text string } `json:"inline_keyboard"`
	}
	if raw == "" || json.Unmarshal([]byte(raw), &k) != nil {
		return ""
	}
	out := ""
	for _, row := range k.Rows {
		var words []string
		for _, b := range row {
			words = append(words, b.Text)
		}
		out += " [" + strings.Join(words, " | ") + "]"
	}
	return out
}

func showMenu(raw string) string {
	var list []struct{ Command, Description string }
	if raw == "" || json.Unmarshal([]byte(raw), &list) != nil {
		return ""
	}
	out := ""
	for _, c := range list {
		out += "\n\t/" + c.Command + " " + c.Description
	}
	return out
}

// short keeps the ends of a long text.
func short(text string) string {
	r := []rune(text)
	if len(r) <= 400 {
		return text
	}
	return string(r[:120]) + " …" + strconv.Itoa(len(r)-220) + " characters… " + string(r[len(r)-100:])
}

// showRequests are what is new in each request to the model: what people said and
// tools answered since it spoke last.
func (s *scene) showRequests() string {
	var out strings.Builder
	whole := slices.Contains(s.shown, "conversation")
	for i, req := range s.model.Requests() {
		if len(req.Tools) == 0 {
			continue
		}
		var words []string
		for _, m := range slices.Backward(req.Messages) {
			if m.Role == "assistant" && !whole {
				break
			}
			if m.Role == "assistant" {
				words = append([]string{"assistant " + s.showMessage(m)}, words...)
			} else if m.Role != "system" {
				words = append([]string{s.showMessage(m)}, words...)
			}
		}
		fmt.Fprintf(&out, "%d: %s\n", i+1, strings.Join(words, "; "))
	}
	return out.String()
}

func (s *scene) showMessage(m modelmessage.Message) string {
	var words []string
	who := ""
	for _, p := range m.Parts {
		switch p := p.(type) {
		case modelmessage.Text:
			var header struct{ T, From, Edits string }
			if strings.HasPrefix(p.Text, `{"t":`) && json.Unmarshal([]byte(p.Text), &header) == nil {
				if who = header.From; header.Edits != "" {
					who = strings.TrimSpace(who + " (edits " + header.Edits + ")")
				}
				continue
			}
			words = append(words, strconv.Quote(short(s.same(p.Text))))
		case modelmessage.ToolResult:
			words = append(words, "tool "+strconv.Quote(short(s.same(p.Output.Text+string(p.Output.JSON)))))
		case modelmessage.File:
			words = append(words, s.showFile(p))
		default:
			words = append(words, fmt.Sprintf("%T", p))
		}
	}
	if who != "" {
		who += ": "
	}
	return who + strings.Join(words, " + ")
}

// showFates are the counts of every chat.
func (s *scene) showFates(platform string) string {
	var out strings.Builder
	if s.h == nil {
		return ""
	}
	for _, key := range s.keys {
		view, err := s.h.ports[platform].port.History(s.t.Context(), key)
		if err != nil {
			s.t.Error(err)
			continue
		}
		fmt.Fprintf(&out, "%s: accepted %d", key, view.Counts.Accepted)
		for _, fate := range slices.Sorted(maps.Keys(view.Counts.Fates)) {
			if n := view.Counts.Fates[fate]; n > 0 {
				fmt.Fprintf(&out, ", %s %d", fate, n)
			}
		}
		fmt.Fprintln(&out)
	}
	return out.String()
}
