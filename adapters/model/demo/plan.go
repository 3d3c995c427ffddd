package demo

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

const (
	sendTool = "chat_send"
	noteTool = "remember_note"
	// waiting is the host's result for a call that a person has not decided on.
	waiting = "waiting for a person, not executed"
	// already begins the host's result for a call that is pending in another message.
	already   = "already waiting as #"
	callID    = "demo_"
	maxQuote  = 160 // letters
	maxResult = 300 // letters
)

// answer is the model's output in one step.
type answer struct {
	text  string
	calls []call
	slow  bool
}

type call struct{ id, tool, input string }

// turn is a user turn as a person would see it.
type turn struct {
	from  string
	words string
	files int
}

type outcome struct {
	tool   string
	text   string
	failed bool
}

// plan derives the step from the request alone.
func plan(req model.Request) answer {
	turns, outcomes := fresh(req.Messages)
	t := textsFor(turns, req.Messages)
	p := planner{texts: t, tools: req.Tools, id: nextID(req.Messages), send: offers(req.Tools, sendTool)}
	merged := len(turns) > 1 || len(outcomes) > 0 && !closed(req.Messages)
	for _, o := range outcomes {
		p.report(o)
	}
	for _, u := range turns {
		p.answer(u, merged)
	}
	return p.done(len(turns) > 0)
}

// fresh returns what arrived since the last assistant message.
func fresh(messages []modelmessage.Message) (turns []turn, outcomes []outcome) {
	for i := len(messages) - 1; i >= 0 && messages[i].Role != modelmessage.RoleAssistant; i-- {
		switch m := messages[i]; m.Role {
		case modelmessage.RoleUser:
			turns = append(turns, turnOf(m))
		case modelmessage.RoleTool:
			for _, part := range slices.Backward(m.Parts) {
				if r, ok := part.(modelmessage.ToolResult); ok {
					outcomes = append(outcomes, outcome{r.ToolName, resultText(r.Output), r.Output.Type == modelmessage.OutputErrorText})
				}
			}
		case modelmessage.RoleSystem, modelmessage.RoleAssistant:
		}
	}
	slices.Reverse(turns)
	slices.Reverse(outcomes)
	return turns, outcomes
}

// closed reports whether the last assistant message was meant to be final, so that what follows is
// a new beginning.
func closed(messages []modelmessage.Message) bool {
	for _, m := range slices.Backward(messages) {
		if m.Role != modelmessage.RoleAssistant {
			continue
		}
		return slices.ContainsFunc(m.Parts, func(part modelmessage.Part) bool {
			c, ok := part.(modelmessage.ToolCall)
			var in struct {
				Final bool `json:"final"`
			}
			return ok && c.ToolName == sendTool && json.Unmarshal(c.Input, &in) == nil && in.Final
		})
	}
	return false
}

// turnOf splits a user message into the header that the host may put first, and the text.
func turnOf(m modelmessage.Message) turn {
	if m.Parts == nil {
		return turn{words: strings.TrimSpace(m.Text)}
	}
	var t turn
	var words []string
	for i, part := range m.Parts {
		text, ok := part.(modelmessage.Text)
		switch {
		case !ok:
			t.files++
		case i == 0 && len(m.Parts) > 1 && t.header(text.Text):
		default:
			words = append(words, text.Text)
		}
	}
	t.words = strings.TrimSpace(strings.Join(words, "\n"))
	return t
}

// header parses the host's header part.
func (t *turn) header(text string) bool {
	var h map[string]string
	if json.Unmarshal([]byte(text), &h) != nil || h == nil {
		return false
	}
	for name := range h {
		if name != "t" && name != "from" && name != "user" && name != "msg" {
			return false
		}
	}
	t.from = h["from"]
	return true
}

func resultText(o modelmessage.Output) string {
	switch o.Type {
	case modelmessage.OutputText, modelmessage.OutputErrorText:
		return o.Text
	case modelmessage.OutputExecutionDenied:
		return o.Reason.Or(string(o.Type))
	case modelmessage.OutputJSON, modelmessage.OutputErrorJSON, modelmessage.OutputContent:
	}
	return string(o.JSON)
}

// nextID returns the number of the first unused call id.
func nextID(messages []modelmessage.Message) int {
	next := 1
	for _, m := range messages {
		for _, part := range m.Parts {
			c, ok := part.(modelmessage.ToolCall)
			if !ok {
				continue
			}
			if n, err := strconv.Atoi(strings.TrimPrefix(c.ToolCallID, callID)); err == nil && n >= next {
				next = n + 1
			}
		}
	}
	return next
}

func offers(tools []model.ToolSpec, name string) bool {
	return slices.ContainsFunc(tools, func(t model.ToolSpec) bool { return t.Name == name })
}

// planner collects an answer.
type planner struct {
	texts texts
	tools []model.ToolSpec
	id    int
	send  bool // answers go through chat_send

	parts []string
	calls []call
	slow  bool
}

func (p *planner) say(text string) { p.parts = append(p.parts, text) }

func (p *planner) call(tool, in string) {
	p.calls = append(p.calls, call{callID + strconv.Itoa(p.id), tool, in})
	p.id++
}

// report words the result of a tool; sending needs no report.
func (p *planner) report(o outcome) {
	switch {
	case o.tool == sendTool:
	case o.failed && (o.text == waiting || strings.HasPrefix(o.text, already)):
		p.say(fmt.Sprintf(p.texts.waits, o.tool))
	case o.failed:
		p.say(fmt.Sprintf(p.texts.failed, o.tool, short(o.text, maxResult)))
	default:
		p.say(fmt.Sprintf(p.texts.result, o.tool, short(o.text, maxResult)))
	}
}

// answer answers one turn. If there are several turns, or they arrived during a run, each is
// greeted by name and quoted.
func (p *planner) answer(u turn, merged bool) {
	if merged {
		name := u.from
		if name == "" {
			name = p.texts.you
		}
		p.say(fmt.Sprintf(p.texts.seen, name, quote(u, p.texts)))
	}
	switch intentOf(u.words) {
	case intentGreet:
		p.say(p.texts.hello)
	case intentStream:
		p.say(p.texts.long)
	case intentTool:
		p.useTool()
	case intentAsk:
		p.askFirst()
	case intentSlow:
		p.slow = true
		p.say(p.texts.slow)
	case intentOther:
		if !merged {
			p.say(fmt.Sprintf(p.texts.echo, quote(u, p.texts)))
		}
	}
}

// useTool calls the first offered tool that only reads.
func (p *planner) useTool() {
	for _, c := range p.calls {
		if c.tool != sendTool {
			return // if two people asked, one call is enough
		}
	}
	if tool, ok := p.looking(); ok {
		p.say(fmt.Sprintf(p.texts.looking, tool))
		p.call(tool, "{}")
		return
	}
	p.say(p.texts.noTool)
}

// askFirst calls the tool that a person must approve.
func (p *planner) askFirst() {
	if !offers(p.tools, noteTool) {
		p.say(p.texts.noTool)
		return
	}
	p.say(fmt.Sprintf(p.texts.asking, noteTool))
	p.call(noteTool, input(p.texts.note, false))
}

// looking returns the first offered tool that changes nothing and needs no input.
func (p *planner) looking() (string, bool) {
	for _, name := range []string{"time_now", "skills_list", "task_list", "chat_context_list", "list_files"} {
		if offers(p.tools, name) {
			return name, true
		}
	}
	return "", false
}

// done assembles the answer. A slow answer has a further step, so that what arrives meanwhile is
// merged into it.
func (p *planner) done(asked bool) answer {
	text := strings.Join(p.parts, "\n\n")
	if text == "" {
		text = p.texts.done
	}
	looks := len(p.calls) > 0
	if p.send && (asked || len(p.parts) > 0) {
		p.call(sendTool, input(text, !looks && !p.slow))
		return answer{calls: p.calls, slow: p.slow}
	}
	if tool, ok := p.looking(); ok && p.slow && !looks {
		p.call(tool, "{}")
	}
	return answer{text: text, calls: p.calls, slow: p.slow}
}

// intent is what a turn asks for.
type intent int

const (
	intentOther intent = iota
	intentGreet
	intentStream
	intentTool
	intentSlow
	intentAsk
)

func intentOf(words string) intent {
	s := strings.ToLower(strings.Trim(strings.TrimSpace(words), "!.?~ ！。？，"))
	switch {
	case containsAny(s, "slow answer", "answer slowly", "慢慢", "慢一点", "慢速"):
		return intentSlow
	case containsAny(s, "ask first", "ask me first", "先问我"):
		return intentAsk
	case containsAny(s, "show streaming", "streaming demo", "流式"):
		return intentStream
	case containsAny(s, "use a tool", "what time", "使用工具", "用工具", "用一个工具", "用个工具", "几点"):
		return intentTool
	}
	switch s {
	case "hello", "hi", "hey", "hello there", "hi there", "good morning", "good evening", "/start", "你好", "您好", "嗨", "早上好", "晚上好", "大家好":
		return intentGreet
	}
	return intentOther
}

func containsAny(s string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(s, p) })
}

func quote(u turn, t texts) string {
	words := short(u.words, maxQuote)
	switch {
	case words == "" && u.files > 0:
		return fmt.Sprintf(t.files, u.files)
	case words == "":
		return "…"
	case u.files > 0:
		return words + " " + fmt.Sprintf(t.files, u.files)
	default:
		return words
	}
}

// short shortens a text to one line of at most n letters.
func short(s string, n int) string {
	letters := []rune(strings.Join(strings.Fields(s), " "))
	if len(letters) > n {
		return string(letters[:n]) + "…"
	}
	return string(letters)
}

// textsFor picks the language of the newest user turn.
func textsFor(turns []turn, messages []modelmessage.Message) texts {
	words := ""
	if len(turns) > 0 {
		words = turns[len(turns)-1].words
	} else {
		for _, m := range slices.Backward(messages) {
			if m.Role == modelmessage.RoleUser {
				words = turnOf(m).words
				break
			}
		}
	}
	if strings.ContainsFunc(words, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
		return chinese()
	}
	return english()
}
