package taskfile

import (
	"bytes"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/frontmatter"
	"github.com/shipmyagent/shipmyagent/messages/schedule"
	"github.com/shipmyagent/shipmyagent/persistence/timetable"
)

const (
	// maxFile is the longest file in bytes, and maxFront the longest front matter.
	maxFile  = 64 << 10
	maxFront = 16 << 10
	// maxTitle is the longest title in characters.
	maxTitle = 120
	// maxSay is the longest text that is sent unchanged, in bytes.
	maxSay = 8 << 10
	// maxMaker is the longest name of a task's author, in bytes.
	maxMaker = 300
)

func form() frontmatter.Form {
	return frontmatter.Form{
		Max: maxFront, Begin: "begin the file with a line ---, then title and cron or when, then a line ---",
		Member: "write lines like title: Morning report", Quote: "put values with a colon, a star or a hash in quotes",
	}
}

// parse reads a file. home is the zone of a task that names none. Its errors are faults.
func parse(id string, raw []byte, home *time.Location) (timetable.Task, error) {
	if err := timetable.CheckID(id); err != nil {
		return timetable.Task{}, frontmatter.Faultf(0, "rename the file", "%v", err)
	}
	if n := len(bytes.TrimPrefix(raw, []byte("\ufeff"))); n > maxFile {
		return timetable.Task{}, frontmatter.Faultf(0, "shorten it", "it has %d bytes, at most %d", n, maxFile)
	}
	read, err := form().Read(raw)
	if err != nil {
		return timetable.Task{}, err
	}
	t := timetable.Task{ID: id, Status: timetable.Active, CatchUp: timetable.CatchUpOnce, Body: read.Text}
	lines, when, err := members(read.Members, &t)
	if err != nil {
		return timetable.Task{}, err
	}
	if t.Status == timetable.Active {
		t.StoppedBy = ""
	}
	return t, check(&t, lines, when, read.Line, home)
}

// check validates the task as a whole; end is the line after the front matter.
func check(t *timetable.Task, lines map[string]int, when string, end int, home *time.Location) error {
	zone := home
	if t.Zone != "" {
		found, err := schedule.ParseZone(t.Zone)
		if err != nil {
			return frontmatter.Faultf(lines["timezone"], "write a name like Europe/Berlin", "timezone: %q is not a time zone", timetable.ShortText(t.Zone, 64))
		}
		zone = found
	}
	switch {
	case t.Title == "":
		return frontmatter.Faultf(2, "add a line like title: Morning report", "the title is missing")
	case t.Cron == "" && when == "":
		return frontmatter.Faultf(2, "add a line like cron: \"0 9 * * *\" or when: 2026-03-29 09:30", "the time is missing")
	case t.Cron != "" && when != "":
		return frontmatter.Faultf(max(lines["cron"], lines["when"]), "keep one of them", "there are cron and when")
	case t.Cron != "":
		if _, err := schedule.ParseCron(t.Cron, zone); err != nil {
			return frontmatter.Faultf(lines["cron"], "write five fields in quotes, for example cron: \"0 9 * * 1-5\"", "cron: %v", plain(err))
		}
	default:
		at, err := schedule.ParseWhen(when, zone)
		if err != nil {
			return frontmatter.Faultf(lines["when"], "write a time like 2026-03-29 09:30", "when: %v", plain(err))
		}
		t.When = at
	}
	if t.Say == "" && t.Body == "" {
		return frontmatter.Faultf(end, "write down what to do, or say: with the text to send", "there is nothing to do")
	}
	if t.Say != "" && t.Body != "" {
		return frontmatter.Faultf(lines["say"], "keep say or the text below the front matter", "say and instructions are both there")
	}
	if t.Say != "" && t.ChatKey == "" {
		return frontmatter.Faultf(lines["say"], "add a line like chatKey: telegram-chat-42", "nobody is told")
	}
	return nil
}

func plain(err error) string {
	return strings.TrimPrefix(err.Error(), schedule.ErrSchedule.Error()+": ")
}

// members reads all members into a task. It returns the line of each, and the text of when.
func members(all []frontmatter.Member, t *timetable.Task) (lines map[string]int, when string, err error) {
	lines = map[string]int{}
	for _, m := range all {
		name, line := timetable.ShortText(m.Key.Value, 64), m.Line()
		if lines[name] > 0 {
			return nil, "", frontmatter.Faultf(line, "keep one of them", "%s is there twice", name)
		}
		lines[name] = line
		if m.Value.Kind != yaml.ScalarNode {
			return nil, "", frontmatter.Faultf(line, "write a plain text behind the colon", "%s is not text", name)
		}
		text := strings.TrimSpace(m.Value.Value)
		if m.Value.Tag == "!!null" {
			text = ""
		}
		if name == "when" {
			when = text
			continue
		}
		if err := member(t, name, text, line); err != nil {
			return nil, "", err
		}
	}
	return lines, when, nil
}

func member(t *timetable.Task, name, text string, line int) error {
	switch name {
	case "title":
		if n := utf8.RuneCountInString(text); n > maxTitle {
			return frontmatter.Faultf(line, "shorten it", "title has %d characters, at most %d", n, maxTitle)
		}
		t.Title = strings.Join(strings.Fields(text), " ")
	case "cron":
		t.Cron = text
	case "timezone":
		t.Zone = text
	case "chatKey":
		key, err := messages.ParseChatKey(text)
		a, ok := key.Address()
		if text != "" && (err != nil || !ok || a.Platform == "task") {
			return frontmatter.Faultf(line, "write a key like telegram-chat-42; sma chats list shows them", "chatKey: %q is not a chat key", timetable.ShortText(text, 64))
		}
		t.ChatKey = key
	case "status":
		switch status := timetable.Status(text); status {
		case timetable.Active, timetable.Paused, timetable.Done:
			t.Status = status
		default:
			return frontmatter.Faultf(line, "write active, paused or done", "status: %q is not a status", timetable.ShortText(text, 64))
		}
	case "catchUp":
		switch policy := timetable.CatchUp(text); policy {
		case timetable.CatchUpOnce, timetable.CatchUpSkip:
			t.CatchUp = policy
		default:
			return frontmatter.Faultf(line, "write once or skip", "catchUp: %q is neither once nor skip", timetable.ShortText(text, 64))
		}
	case "madeBy", "stoppedBy":
		if len(text) > maxMaker {
			return frontmatter.Faultf(line, "remove the line", "%s has %d bytes, at most %d", name, len(text), maxMaker)
		}
		if name == "madeBy" {
			t.MadeBy = text
		} else {
			t.StoppedBy = text
		}
	case "chatType":
		if text != "" && !messages.IsPrivate(text) && !messages.IsGroup(text, "") {
			return frontmatter.Faultf(line, "write group or private", "chatType: %q is not a type of chat", timetable.ShortText(text, 64))
		}
		t.ChatType = text
	case "say":
		if len(text) > maxSay {
			return frontmatter.Faultf(line, "shorten it", "say has %d bytes, at most %d", len(text), maxSay)
		}
		t.Say = text
	default:
		return frontmatter.Faultf(line, "known are title, cron, when, timezone, chatKey, chatType, madeBy, status, stoppedBy, catchUp and say", "%q is not known", name)
	}
	return nil
}

// format encodes a task as a file.
func format(t timetable.Task) ([]byte, error) {
	var root yaml.Node
	root.Kind = yaml.MappingNode
	add := func(name, value string) {
		if value == "" {
			return
		}
		root.Content = append(root.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: name}, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle, Value: value})
	}
	add("title", t.Title)
	add("cron", t.Cron)
	if t.Cron == "" {
		add("when", t.When.Format(time.RFC3339))
	}
	add("timezone", t.Zone)
	add("chatKey", string(t.ChatKey))
	add("chatType", t.ChatType)
	add("madeBy", t.MadeBy)
	add("status", string(t.Status))
	if t.Status != timetable.Active {
		add("stoppedBy", t.StoppedBy)
	}
	if t.CatchUp != timetable.CatchUpOnce {
		add("catchUp", string(t.CatchUp))
	}
	add("say", t.Say)
	front, err := yaml.Marshal(&root)
	if err != nil {
		return nil, fmt.Errorf("encode a task: %w", err)
	}
	out := "---\n" + string(front) + "---\n"
	if t.Body != "" {
		out += "\n" + t.Body + "\n"
	}
	return []byte(out), nil
}

// withStatus returns a file with another status and who stopped the task; everything else stays as people wrote it.
func withStatus(raw []byte, status timetable.Status, by string) []byte {
	set := fmt.Sprintf("status: %s\n", status)
	if by != "" {
		set += fmt.Sprintf("stoppedBy: %q\n", by)
	}
	text := string(raw)
	first, rest, _ := strings.Cut(text, "\n")
	var out strings.Builder
	out.WriteString(first + "\n")
	below := false
	for line := range strings.Lines(rest) {
		switch name, _, _ := strings.Cut(line, ":"); {
		case below:
		case strings.TrimRight(line, " \t\r\n") == "---":
			line, below = set+line, true
		case strings.Trim(name, `"`) == "status":
			line, set = set, ""
		case strings.Trim(name, `"`) == "stoppedBy":
			line = ""
		}
		out.WriteString(line)
	}
	return []byte(out.String())
}
