package taskfile

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/schedule"
	"github.com/shipmyagent/shipmyagent/persistence"
)

const (
	// maxFile is the longest file in bytes, and maxFront the longest front matter.
	maxFile  = 64 << 10
	maxFront = 16 << 10
	// maxTitle is the longest title in characters.
	maxTitle = 120
	// maxSay is the longest text that is sent as it is, in bytes.
	maxSay = 8 << 10
)

const hintFront = "begin the file with a line ---, then title and cron or when, then a line ---"

// fault is what is wrong with a file, and at which line; 0: with the whole of it.
type fault struct {
	line       int
	what, hint string
}

// Error implements error.
func (f fault) Error() string { return f.what + "; " + f.hint }

func faultf(line int, hint, what string, args ...any) error {
	return fault{line, fmt.Sprintf(what, args...), hint}
}

// parse reads a file. home is the zone of a task that names none. Its errors are faults.
func parse(id string, raw []byte, home *time.Location) (persistence.Task, error) {
	if err := persistence.CheckTaskID(id); err != nil {
		return persistence.Task{}, faultf(0, "rename the file", "%v", err)
	}
	raw = bytes.TrimPrefix(raw, []byte("\ufeff"))
	if len(raw) > maxFile {
		return persistence.Task{}, faultf(0, "shorten it", "it has %d bytes, at most %d", len(raw), maxFile)
	}
	if err := checkText(raw); err != nil {
		return persistence.Task{}, err
	}
	front, body, err := split(strings.ReplaceAll(string(raw), "\r\n", "\n"))
	if err != nil {
		return persistence.Task{}, err
	}
	t := persistence.Task{ID: id, Status: persistence.TaskActive, CatchUp: persistence.CatchUpOnce, Body: strings.TrimSpace(body)}
	lines, when, err := parseFront(front, &t)
	if err != nil {
		return persistence.Task{}, err
	}
	return t, check(&t, lines, when, strings.Count(front, "\n")+2, home)
}

// check looks at the task as a whole; end is the line below the front matter.
func check(t *persistence.Task, lines map[string]int, when string, end int, home *time.Location) error {
	zone := home
	if t.Zone != "" {
		found, err := schedule.ParseZone(t.Zone)
		if err != nil {
			return faultf(lines["timezone"], "write a name like Europe/Berlin", "timezone: %q is none", persistence.ShortText(t.Zone, 64))
		}
		zone = found
	}
	switch {
	case t.Title == "":
		return faultf(2, "add a line like title: Morning report", "there is no title")
	case t.Cron == "" && when == "":
		return faultf(2, "add a line like cron: \"0 9 * * *\" or when: 2026-03-29 09:30", "there is no time")
	case t.Cron != "" && when != "":
		return faultf(max(lines["cron"], lines["when"]), "keep one of them", "there are cron and when")
	case t.Cron != "":
		if _, err := schedule.ParseCron(t.Cron, zone); err != nil {
			return faultf(lines["cron"], "write five fields in quotes, for example cron: \"0 9 * * 1-5\"", "cron: %v", plain(err))
		}
	default:
		at, err := schedule.ParseWhen(when, zone)
		if err != nil {
			return faultf(lines["when"], "write a time like 2026-03-29 09:30", "when: %v", plain(err))
		}
		t.When = at
	}
	if t.Say == "" && t.Body == "" {
		return faultf(end, "write down what to do, or say: with the text to send", "there is nothing to do")
	}
	if t.Say != "" && t.Body != "" {
		return faultf(lines["say"], "keep say or the text below the front matter", "say and instructions are both there")
	}
	if t.Say != "" && t.ChatKey == "" {
		return faultf(lines["say"], "add a line like chatKey: telegram-chat-42", "nobody is told")
	}
	return nil
}

func plain(err error) string {
	return strings.TrimPrefix(err.Error(), schedule.ErrSchedule.Error()+": ")
}

// checkText refuses what people cannot see but a model can read.
func checkText(raw []byte) error {
	line := 1
	for i := 0; i < len(raw); {
		r, n := utf8.DecodeRune(raw[i:])
		switch {
		case r == '\n':
			line++
		case r == utf8.RuneError && n <= 1:
			return faultf(line, "save the file as UTF-8", "bytes that are no UTF-8")
		case r == '\t' || r == '\r':
		case unicode.IsControl(r), hidden(r):
			return faultf(line, "remove it", "an invisible character U+%04X", r)
		}
		i += n
	}
	return nil
}

// hidden characters change the order of what is shown, or spell words that are not.
func hidden(r rune) bool {
	return r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 || r >= 0xE0000 && r <= 0xE007F || r == 0x2028 || r == 0x2029
}

// split parts the front matter from the text.
func split(text string) (front, body string, err error) {
	first, rest, _ := strings.Cut(text, "\n")
	if strings.TrimRight(first, " \t") != "---" {
		return "", "", faultf(1, hintFront, "there is no front matter")
	}
	at := 0
	for line := range strings.Lines(rest) {
		if strings.TrimRight(line, " \t\n") == "---" {
			if at > maxFront {
				return "", "", faultf(1, "move it into the text", "the front matter has %d bytes, at most %d", at, maxFront)
			}
			return rest[:at], rest[at+len(line):], nil
		}
		at += len(line)
	}
	return "", "", faultf(1, hintFront, "the front matter does not end")
}

// parseFront reads the members into a task. It tells at which line each is, and the
// text of when.
func parseFront(front string, t *persistence.Task) (lines map[string]int, when string, err error) {
	var root yaml.Node
	if err := parseYAML(front, &root); err != nil {
		return nil, "", faultf(min(lineOf(err), strings.Count(front, "\n"))+1, "put values with a colon, a star or a hash in quotes", "the front matter is no YAML")
	}
	if len(root.Content) != 1 || root.Content[0].Kind != yaml.MappingNode {
		return nil, "", faultf(2, "write lines like title: Morning report", "the front matter has no members")
	}
	lines = map[string]int{}
	members := root.Content[0].Content
	for i := 0; i+1 < len(members); i += 2 {
		key, value := members[i], members[i+1]
		name, line := persistence.ShortText(key.Value, 64), key.Line+1
		if lines[name] > 0 {
			return nil, "", faultf(line, "keep one of them", "%s is there twice", name)
		}
		lines[name] = line
		if value.Kind != yaml.ScalarNode {
			return nil, "", faultf(line, "write a plain text behind the colon", "%s is no text", name)
		}
		text := strings.TrimSpace(value.Value)
		if value.Tag == "!!null" {
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

// member takes one member in.
func member(t *persistence.Task, name, text string, line int) error {
	switch name {
	case "title":
		if n := utf8.RuneCountInString(text); n > maxTitle {
			return faultf(line, "shorten it", "title has %d characters, at most %d", n, maxTitle)
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
			return faultf(line, "write a key like telegram-chat-42; sma chats list shows them", "chatKey: %q is none", persistence.ShortText(text, 64))
		}
		t.ChatKey = key
	case "status":
		switch status := persistence.TaskStatus(text); status {
		case persistence.TaskActive, persistence.TaskPaused, persistence.TaskDone:
			t.Status = status
		default:
			return faultf(line, "write active, paused or done", "status: %q is none", persistence.ShortText(text, 64))
		}
	case "catchUp":
		switch policy := persistence.CatchUp(text); policy {
		case persistence.CatchUpOnce, persistence.CatchUpSkip:
			t.CatchUp = policy
		default:
			return faultf(line, "write once or skip", "catchUp: %q is none", persistence.ShortText(text, 64))
		}
	case "say":
		if len(text) > maxSay {
			return faultf(line, "shorten it", "say has %d bytes, at most %d", len(text), maxSay)
		}
		t.Say = text
	default:
		return faultf(line, "known are title, cron, when, timezone, chatKey, status, catchUp and say", "%q is not known", name)
	}
	return nil
}

// parseYAML is Unmarshal for bytes of strangers: a panic is an error.
func parseYAML(text string, node *yaml.Node) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errors.New("the parser gave up")
		}
	}()
	return yaml.Unmarshal([]byte(text), node)
}

// lineOf is the line that an error of the YAML parser names; 0: none.
func lineOf(err error) int {
	found := regexp.MustCompile(`line (\d+)`).FindStringSubmatch(err.Error())
	if found == nil {
		return 1
	}
	n, err := strconv.Atoi(found[1])
	if err != nil {
		return 1
	}
	return n
}

// format is a task as a file.
func format(t persistence.Task) ([]byte, error) {
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
	add("status", string(t.Status))
	if t.CatchUp != persistence.CatchUpOnce {
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

// withStatus is a file with another status; all else stays as people wrote it.
func withStatus(raw []byte, status persistence.TaskStatus) []byte {
	text := string(raw)
	first, rest, _ := strings.Cut(text, "\n")
	out, done := first+"\n", false
	var body strings.Builder
	for line := range strings.Lines(rest) {
		end := strings.TrimRight(line, " \t\r\n")
		switch {
		case done:
		case end == "---":
			fmt.Fprintf(&body, "status: %s\n", status)
			done = true
		case strings.HasPrefix(line, "status:"), strings.HasPrefix(line, `"status":`):
			line, done = fmt.Sprintf("status: %s\n", status), true
		}
		body.WriteString(line)
	}
	return []byte(out + body.String())
}
