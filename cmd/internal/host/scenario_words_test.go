package host

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// The words of a script, one a line. A place is the id of a chat, or chat/topic; a
// message has the label WHO#N, the bot's are bot#N.
//
// Before anything happens:
//
//	set KEY VALUE                   a setting; a key without a dot is one of adapters.telegram
//	write FILE TEXT                 a file of the project; \n is the end of a line
//	chat ID TYPE [TITLE] [forum] [topics N,N]; a title in quotes is one of Go
//	person NAME ID [LANGUAGE]       beside Ann, Bob and Eve, who are 1, 2 and 3
//	show METHOD, hide METHOD, show files, show apart (the calls of each chat by themselves),
//	show conversation (all of each request to the model, not what is new alone)
//
// What the model answers, in the order of its requests, with clauses between bars:
//
//	model [hold GATE |] text WORDS | long LINES | pause GATE | call TOOL JSON | fail REASON [retryable]
//	model rest CLAUSES              for every request beyond the script
//
// What happens; everything that follows from it has happened before the next line:
//
//	say WHO PLACE WORDS [JSON]      JSON adds members to the message of the update
//	reply WHO LABEL WORDS [JSON]    an answer to a message; bot@CHAT#2 is the bot's second one there
//	send WHO PLACE KIND NAME [album=ID] [CAPTION]   of a voice: its length (scenario_voice_test.go)
//	edit WHO LABEL WORDS
//	press WHO LABEL BUTTON          a button that shows these words, or showed them; bot@CHAT is the bot's last message there
//	gather, scatter                 what people do between them comes at once
//	again LABEL                     the service brings the update once more
//	migrate FROM TO                 a group becomes a supergroup
//	member WHO CHAT STATUS          somebody makes the bot a member, an administrator, left or kicked; its label is member#N
//	fail METHOD CODE [retry=N] [times=N] WORDS
//	forbid reactions|drafts CHAT
//	pair WHO PLACE                  with the code that a start prints
//	admins CHAT [WHO ...]           administer the group from now on, the first as its owner; a minute passes
//	expire                          a restart, half an hour after all that was asked
//	take NAME PATTERN               what the pattern finds in the bot's last message is $NAME
//	kept NAME                       the last file that was kept is $NAME
//	release GATE, await METHOD N, restart
func (s *scene) do(verb, rest string) (happens bool, err error) {
	switch verb {
	case "set", "write", "chat", "person", "show", "hide", "model", "hears", "speaks":
		return false, s.prepare(verb, rest)
	}
	s.begin()
	switch verb {
	case "gather":
		s.p.api.Gather(true)
		s.gathers = true
	case "scatter":
		s.p.api.Gather(false)
		s.gathers = false
	case "say":
		err = s.say(rest)
	case "reply":
		err = s.reply(rest)
	case "send":
		err = s.send(rest)
	case "edit":
		err = s.edit(rest)
	case "press":
		err = s.press(rest)
	case "migrate":
		err = s.migrate(rest)
	case "member":
		err = s.member(rest)
	case "pair":
		err = s.pair(rest)
	case "release":
		err = s.release(rest)
	case "restart":
		s.again()
	case "expire":
		s.stop()
		s.expireRequests()
		s.h = nil
		s.begin()
	case "admins":
		err = s.admins(rest)
	case "again":
		m, ok := s.find(rest)
		if !ok || m.update == 0 {
			return false, fmt.Errorf("no message %s", rest)
		}
		s.p.api.Redeliver(m.update)
		s.p.api.AwaitPoller(s.t)
	default:
		return false, s.meddle(verb, rest)
	}
	return !s.gathers, err
}

func (s *scene) prepare(verb, rest string) error {
	word, more, _ := strings.Cut(rest, " ")
	switch verb {
	case "set":
		if !strings.Contains(word, ".") {
			word = "adapters.telegram." + word
		}
		s.flags[word] = more
	case "write":
		stdtest.Write(s.t, filepath.Join(s.p.dir, filepath.FromSlash(word)), strings.ReplaceAll(more, `\n`, "\n"))
	case "person":
		fields := strings.Fields(more)
		id, err := strconv.ParseInt(fields[0], 10, 64)
		if err != nil {
			return err
		}
		s.people[strings.ToLower(word)] = person{id: id, name: word, language: strings.Join(fields[1:], "")}
	case "show":
		if word == "files" {
			s.folder = true
		}
		s.shown = append(s.shown, word)
	case "hide":
		s.hidden = append(s.hidden, word)
	case "model":
		return s.answer(rest)
	case "hears":
		return s.hears(rest)
	case "speaks":
		return s.audio("speak", "tts-1")
	case "chat":
		return s.addChat(word, more)
	}
	return nil
}

func (s *scene) addChat(word, more string) error {
	id, err := strconv.ParseInt(word, 10, 64)
	if err != nil {
		return err
	}
	c := telegramtest.Chat{ID: id}
	fields := strings.Fields(more)
	if kind, quoted, ok := strings.Cut(more, ` "`); ok {
		if c.Title, err = strconv.Unquote(`"` + quoted); err != nil {
			return err
		}
		fields = []string{kind}
	}
	for i, f := range fields {
		switch {
		case i == 0:
			c.Type = f
		case f == "forum":
			c.Forum = true
		case f == "topics":
		case fields[i-1] == "topics":
			for n := range strings.SplitSeq(f, ",") {
				topic, err := strconv.ParseInt(n, 10, 64)
				if err != nil {
					return err
				}
				c.Topics = append(c.Topics, topic)
			}
		default:
			c.Title = strings.TrimSpace(c.Title + " " + f)
		}
	}
	s.p.api.AddChat(c)
	if !slices.Contains(s.chats, id) {
		s.chats = append(s.chats, id)
	}
	return nil
}

// answer adds a step of the model.
func (s *scene) answer(rest string) error {
	rest, forever := strings.CutPrefix(rest, "rest ")
	step := modeltest.Step{}
	for clause := range strings.SplitSeq(rest, " | ") {
		word, more, _ := strings.Cut(strings.TrimSpace(clause), " ")
		switch word {
		case "text":
			step.Text = append(step.Text, strings.ReplaceAll(more, `\n`, "\n"))
		case "long":
			n, err := strconv.Atoi(more)
			if err != nil {
				return err
			}
			var long strings.Builder
			for i := range n {
				fmt.Fprintf(&long, "Line %d of a long answer.\n", i+1)
			}
			step.Text = append(step.Text, long.String())
		case "hold":
			step.Wait = s.gate(more)
		case "pause":
			step.WaitAfterText = s.gate(more)
		case "call":
			name, input, _ := strings.Cut(more, " ")
			s.calls++
			step.Calls = append(step.Calls, modeltest.Call{ID: "c" + strconv.Itoa(s.calls), Name: name, Input: input})
		case "fail":
			reason, again, _ := strings.Cut(more, " ")
			step.Err = &model.Error{Reason: model.Reason(reason), Retryable: again != "", Message: "scripted"}
		default:
			return fmt.Errorf("no clause %q", word)
		}
	}
	if forever {
		s.model.Otherwise = &step
		return nil
	}
	s.model.Add(step)
	return nil
}

// gate makes the gate of the step that is about to be added.
func (s *scene) gate(name string) <-chan struct{} {
	step := len(s.model.Requests()) + s.model.Left()
	g := &gate{name: name, reached: func() bool { return step < len(s.model.Requests()) }, open: make(chan struct{})}
	s.gates = append(s.gates, g)
	return g.open
}

func (s *scene) release(name string) error {
	for _, g := range s.gates {
		if g.name == name && !g.done {
			g.done = true
			close(g.open)
			return nil
		}
	}
	return fmt.Errorf("no gate %s", name)
}

// who finds a person, and what they say with what is added to it.
func (s *scene) who(rest string) (p person, who, word, text string, more map[string]any, err error) {
	who, rest, _ = strings.Cut(rest, " ")
	word, text, _ = strings.Cut(rest, " ")
	p, ok := s.people[who]
	if !ok {
		return p, who, word, text, nil, fmt.Errorf("nobody is called %s", who)
	}
	more = map[string]any{"from": from(p)}
	if i := strings.LastIndex(text, " {"); i >= 0 && strings.HasSuffix(text, "}") {
		if err := json.Unmarshal([]byte(text[i+1:]), &more); err != nil {
			return p, who, word, text, nil, err
		}
		text = text[:i]
	}
	text = strings.ReplaceAll(text, `\n`, "\n")
	if e := entities(text); e != nil && more["entities"] == nil {
		more["entities"] = e
	}
	return p, who, word, text, more, nil
}

func from(p person) map[string]any {
	u := telegramtest.User(p.id, p.name)
	if p.language != "" {
		u["language_code"] = p.language
	}
	return u
}

func entities(text string) []map[string]any {
	var out []map[string]any
	units := func(s string) int { return len(utf16.Encode([]rune(s))) }
	if before, _, ok := strings.Cut(text, "@"+telegramtest.BotName); ok && !strings.HasPrefix(text, "/") {
		out = append(out, telegramtest.Entity("mention", units(before), len(telegramtest.BotName)+1))
	}
	if word, _, _ := strings.Cut(text, " "); strings.HasPrefix(word, "/") {
		out = append(out, telegramtest.Entity("bot_command", 0, units(word)))
	}
	return out
}

func (s *scene) say(rest string) error {
	p, who, word, text, more, err := s.who(rest)
	if err != nil {
		return err
	}
	at, err := s.spot(word)
	if err != nil {
		return err
	}
	s.speak(who, p, at, text, more)
	return nil
}

// speak delivers an update with a message.
func (s *scene) speak(who string, p person, at spot, text string, more map[string]any) {
	if at.topic != 0 {
		more["message_thread_id"], more["is_topic_message"] = at.topic, true
	}
	update := s.p.api.NextUpdate()
	id := s.p.api.Say(at.chat, p.id, text, more)
	s.label(who, said{spot: at, id: id, from: p.id, text: text, update: update})
}

func (s *scene) reply(rest string) error {
	p, who, label, text, more, err := s.who(rest)
	if err != nil {
		return err
	}
	m, ok := s.find(label)
	if !ok {
		return fmt.Errorf("no message %s", label)
	}
	author := map[string]any{"id": telegramtest.BotID, "is_bot": true, "first_name": "Sample", "username": telegramtest.BotName}
	for _, x := range s.people {
		if x.id == m.from {
			author = from(x)
		}
	}
	answered := map[string]any{"message_id": m.id, "date": 1, "from": author}
	if maps.Copy(answered, m.files); m.text != "" {
		answered["text"] = m.text
	}
	more["reply_to_message"] = answered
	s.know(m.spot)
	s.speak(who, p, m.spot, text, more)
	return nil
}

// send delivers a message with a file.
func (s *scene) send(rest string) error {
	p, who, word, text, more, err := s.who(rest)
	if err != nil {
		return err
	}
	at, err := s.spot(word)
	if err != nil {
		return err
	}
	kind, text, _ := strings.Cut(text, " ")
	name, caption, _ := strings.Cut(text, " ")
	if album, ok := strings.CutPrefix(caption, "album="); ok {
		album, caption, _ = strings.Cut(album, " ")
		more["media_group_id"], s.album = album, true
	}
	_, image, _ := strings.Cut(name, "=")
	content, says := contentOf(cmp.Or(image, name)), 0
	if kind == "voice" {
		if says, content, err = length(name); err != nil {
			return err
		}
	}
	id := fmt.Sprintf("file-%s-%s-%d", kind, who, s.counts[who])
	file := s.p.api.AddFileAs(id, "documents/"+id, int64(len(content)), content) // under a path of its own
	more["text"], more["caption"], more["entities"] = nil, nil, nil
	if caption != "" {
		more["caption"] = caption
		if e := entities(caption); e != nil {
			more["caption_entities"] = e
		}
	}
	switch kind {
	case "photo":
		more["photo"] = []any{file}
	case "sticker":
		file["emoji"], _, _ = strings.Cut(name, "=")
		s.sticker(file, id, image)
		more["sticker"] = file
	case "voice":
		file["duration"] = says
		more["voice"] = file
	default:
		file["file_name"] = name
		more[kind] = file
	}
	s.speak(who, p, at, "", more)
	label := who + "#" + strconv.Itoa(s.counts[who])
	sent := s.spoken[label]
	sent.files = map[string]any{}
	for _, name := range []string{"caption", kind} {
		if more[name] != nil {
			sent.files[name] = more[name]
		}
	}
	s.spoken[label] = sent
	return nil
}

func (s *scene) edit(rest string) error {
	p, _, label, text, more, err := s.who(rest)
	if err != nil {
		return err
	}
	m, ok := s.find(label)
	if !ok {
		return fmt.Errorf("no message %s", label)
	}
	s.edits++
	members := map[string]any{"edit_date": 1700000100 + s.edits}
	maps.Copy(members, more)
	if m.topic != 0 {
		members["message_thread_id"], members["is_topic_message"] = m.topic, true
	}
	s.p.api.EditAs(m.chat, p.id, m.id, text, members)
	return nil
}

// keepButtons keeps the buttons that the messages of a chat have before they give way.
func (s *scene) keepButtons(in map[string][][]string, chat int64) {
	for _, m := range s.p.api.Sent(chat) {
		label := fmt.Sprintf("in:%d#%d", chat, m.ID)
		if in[label] == nil && len(m.Buttons) > 0 {
			in[label] = m.Buttons
		}
	}
}

// offering is the newest message of a chat that has, or had, a button.
func (s *scene) offering(chat, button string) (said, bool) {
	id, err := strconv.ParseInt(chat, 10, 64)
	if err != nil {
		return said{}, false
	}
	s.keepButtons(s.buttons, id)
	for _, kept := range []map[string][][]string{s.buttons, s.gone} {
		for _, m := range slices.Backward(s.p.api.Sent(id)) {
			for _, row := range kept[fmt.Sprintf("in:%s#%d", chat, m.ID)] {
				if slices.ContainsFunc(row, func(text string) bool { return strings.Contains(text, button) }) {
					return said{spot: spot{chat: id}, id: m.ID}, true
				}
			}
		}
	}
	return said{}, false
}

func (s *scene) press(rest string) error {
	p, _, label, button, _, err := s.who(rest)
	if err != nil {
		return err
	}
	m, ok := s.find(label)
	if chat, newest := strings.CutPrefix(label, "in:"); newest {
		m, ok = s.offering(chat, button)
	}
	if !ok {
		return fmt.Errorf("no message %s", label)
	}
	label, offered := fmt.Sprintf("%d/%d", m.chat, m.id), fmt.Sprintf("in:%d#%d", m.chat, m.id)
	for _, sent := range s.p.api.Sent(m.chat) {
		if sent.ID == m.id {
			s.buttons[label] = append(s.buttons[label], sent.Buttons...)
		}
	}
	for _, row := range append(slices.Clone(s.buttons[label]), s.gone[offered]...) {
		for i := 0; i+1 < len(row); i += 2 {
			if strings.Contains(row[i], button) {
				s.presses = append(s.presses, len(s.p.api.Calls("")))
				s.p.api.Press(m.chat, p.id, m.id, row[i+1], map[string]any{"from": from(p)})
				return nil
			}
		}
	}
	return fmt.Errorf("the buttons are %q", s.buttons[label])
}
