package host

import (
	"context"
	"flag"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/scenariotest"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

var update = flag.Bool("update", false, "rewrite the wanted parts of the scenarios")

// The wanted parts of a scenario: the calls that the service got, the reactions among
// them, which wait for nobody, by message; answers to buttons that are no calls; what a
// service for audio and the model were asked, what became of the messages, and the files that were kept.
var wanted = []string{"calls", "marks", "answers", "audio", "model", "fates", "files"}

// Every file of testdata/telegram shows one behaviour with a whole host: prose, a
// script of what people do, and the calls that the Bot API gets for it. See
// scenario_words_test.go for the words of a script.
func TestScenarios(t *testing.T) {
	scenariotest.Play(t, "testdata/telegram/*.txtar", 20, wanted, *update, func(t *testing.T, script string) map[string]string {
		t.Helper()
		t.Parallel() // much of it is waiting
		s := newScene(t)
		s.play(script)
		return s.show(script)
	})
}

func lines(s string) []string { return strings.Split(strings.TrimSpace(s), "\n") }

// person is somebody of a script.
type person struct {
	id       int64
	name     string
	language string
}

// spot is a chat, or a topic of one.
type spot struct{ chat, topic int64 }

// said is a message of a script, by whomever.
type said struct {
	spot
	id     int64
	from   int64 // 0: the bot
	text   string
	update int64 // 0: not one of ours
	// files are the members of a message with a file that an answer to it repeats.
	files map[string]any
}

// scene is one script being played with a whole host.
type scene struct {
	t     *testing.T
	p     *project
	h     *Host
	model *modeltest.Script
	flags map[string]string

	people  map[string]person
	spoken  map[string]said // by label: ann#1, bot#1
	counts  map[string]int  // of messages, by who wrote them
	chats   []int64
	keys    []messages.ChatKey
	moved   map[int64]int64 // ids of chats, as they were first
	gates   []*gate
	calls   int               // of tools, for their ids
	presses []int             // how many calls there were before each press
	rests   []int             // and how many at each rest
	shown   []string          // methods that are shown beside the usual ones
	hidden  []string          // methods that are not
	vars    map[string]string // words that are another each time
	edits   int64
	gathers bool                  // what people do is held back
	buttons map[string][][]string // that a message has had, when somebody looked for one
	gone    map[string][][]string // the same, of all messages
	folder  bool                  // the files that were kept are shown
	sounds  *sounds               // nil: there is no service for audio
	album   bool                  // a file of an album was sent
	grown   time.Time             // when the last album has all its files
	metered bool                  // the model is asked over HTTP, so that its use counts
}

// gate holds a step of the model back, or a transcript.
type gate struct {
	name    string
	reached func() bool // it is at the gate, or beyond it
	open    chan struct{}
	done    bool
	listens bool // it holds a transcript
}

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{
		t: t, p: newProject(t), model: modeltest.NewScript(), people: map[string]person{}, spoken: map[string]said{}, counts: map[string]int{},
		moved: map[int64]int64{}, vars: map[string]string{}, chats: []int64{1}, buttons: map[string][][]string{}, gone: map[string][][]string{},
	}
	s.flags = telegramFlags(s.p)
	s.flags["adapters.telegram.egress"] = "direct"
	for i, name := range []string{"Ann", "Bob", "Eve"} {
		s.people[strings.ToLower(name)] = person{id: int64(i + 1), name: name}
	}
	return s
}

func (s *scene) play(script string) {
	s.t.Helper()
	s.each(script, s.do, s.rest)
}

// each does what the lines of a script say, and lets everything happen after each with which
// something happens.
func (s *scene) each(script string, do func(verb, rest string) (happens bool, err error), rest func(what string)) {
	s.t.Helper()
	for i, line := range strings.Split(script, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		for name, value := range s.vars {
			line = strings.ReplaceAll(line, "$"+name, value)
		}
		verb, more, _ := strings.Cut(line, " ")
		happens, err := do(verb, strings.TrimSpace(more))
		if err != nil {
			s.t.Fatalf("line %d: %s: %v", i+1, line, err)
		}
		if happens {
			rest(line)
		}
	}
	rest("the end")
	for _, err := range s.model.Faults() {
		s.t.Errorf("the model: %v", err)
	}
	if n := s.model.Left(); n > 0 {
		s.t.Errorf("%d answers of the model are left", n)
	}
}

// begin starts the host with the first thing that happens.
func (s *scene) begin() {
	s.t.Helper()
	if s.h == nil {
		s.start()
		s.p.api.AwaitPoller(s.t)
	}
}

// start starts the host, with secrets as lines of .env.
func (s *scene) start(secrets ...string) {
	s.t.Helper()
	s.secrets(secrets...)
	o := Options{Model: s.model}
	if s.metered {
		o.Model = nil
	}
	s.h = s.p.prepare(s.t, o, s.flags)
	stdtest.Must(s.t, s.h.Start(s.t.Context()))
	h := s.h
	s.t.Cleanup(func() {
		if h == s.h {
			s.stop()
		}
	})
}

func (s *scene) stop() {
	if err := s.h.Stop(context.WithoutCancel(s.t.Context())); err != nil {
		s.t.Errorf("stop: %v", err)
	}
}

// rest waits until everything has happened that needs nothing from outside: no update
// waits, and each chat is at rest or held by a gate.
func (s *scene) rest(what string) {
	s.t.Helper()
	if s.h == nil {
		return
	}
	faketest.Poll(s.t, "rest after "+what, func() bool {
		if s.p.api.Pending() > 0 || len(s.answered("answerCallbackQuery")) < len(s.presses) || !s.questionsEnded("telegram") {
			return false
		}
		return s.settled("telegram")
	})
	s.rests = append(s.rests, len(s.p.api.Calls("")))
	for _, chat := range s.chats {
		s.keepButtons(s.gone, chat)
	}
}

// albumGrows is longer than a chat waits for the next file of an album.
const albumGrows = time.Second

// settled tells whether nothing more happens in the chats by itself: each is at rest or
// held by a gate, and nothing that waits for the model waits for its files as well.
func (s *scene) settled(platformName string) bool {
	if s.album { // all of it is with its chat
		s.album, s.grown = false, time.Now().Add(albumGrows)
	}
	held, listening := s.held(), slices.ContainsFunc(s.gates, func(g *gate) bool { return g.listens && g.holds() })
	if held && !listening && time.Now().Before(s.grown) {
		return false
	}
	// A chat that was at rest may get a request from one that is looked at after it, so look twice.
	for _, key := range slices.Concat(s.keys, s.keys) {
		view, err := s.h.ports[platformName].port.History(s.t.Context(), key)
		if err != nil || !held && (view.Running || view.Counts.Open > 0 || view.Counts.Pending > 0) {
			return false
		}
		if !listening && slices.ContainsFunc(view.Waiting, func(m uimessage.Message) bool { return platform.Unfetched(m.Parts) }) {
			return false
		}
	}
	return true
}

// answered are the calls of a method that have their answer.
func (s *scene) answered(method string) []telegramtest.Call {
	return slices.DeleteFunc(s.p.api.Calls(method), func(c telegramtest.Call) bool { return c.Code == 0 })
}

// held tells whether the model, or the service for audio, is at a gate.
func (s *scene) held() bool {
	return slices.ContainsFunc(s.gates, (*gate).holds)
}

// holds reports whether something is at the gate.
func (g *gate) holds() bool { return !g.done && g.reached() }

// spot reads a place: 1, or -5/7 for a topic.
func (s *scene) spot(word string) (spot, error) {
	chat, topic, _ := strings.Cut(word, "/")
	id, err := strconv.ParseInt(chat, 10, 64)
	out := spot{chat: id}
	if err == nil && topic != "" {
		out.topic, err = strconv.ParseInt(topic, 10, 64)
	}
	if err == nil {
		s.know(out)
	}
	return out, err
}

// know notes the key of a place's chat.
func (s *scene) know(at spot) {
	chat := at.chat
	if first, ok := s.moved[chat]; ok {
		chat = first
	}
	if at.topic == 1 {
		at.topic = 0
	}
	key := messages.NewChatKey("telegram", "", strconv.FormatInt(chat, 10), at.topic)
	if !slices.Contains(s.keys, key) {
		s.keys = append(s.keys, key)
	}
}

// label names a message that was just written.
func (s *scene) label(who string, m said) {
	s.counts[who]++
	s.spoken[who+"#"+strconv.Itoa(s.counts[who])] = m
}

// find finds a message by its label; those of the bot are counted as they are sent.
func (s *scene) find(label string) (said, bool) {
	if place, ok := strings.CutPrefix(label, "bot@"); ok { // the last one in a chat, or one by its number there
		place, nth, counted := strings.Cut(place, "#")
		chat, err := strconv.ParseInt(place, 10, 64)
		all := slices.DeleteFunc(s.sent(), func(m said) bool { return m.chat != chat })
		n := len(all)
		if counted && err == nil {
			n, err = strconv.Atoi(nth)
		}
		if err != nil || n < 1 || n > len(all) {
			return said{}, false
		}
		return all[n-1], true
	}
	if !strings.HasPrefix(label, "bot#") {
		m, ok := s.spoken[label]
		return m, ok
	}
	n, err := strconv.Atoi(label[4:])
	all := s.sent()
	if err != nil || n < 1 || n > len(all) {
		return said{}, false
	}
	return all[n-1], true
}

// sent are all messages of the bot, in the order of their ids.
func (s *scene) sent() []said {
	var all []said
	for _, chat := range s.chats {
		for _, m := range s.p.api.Sent(chat) {
			all = append(all, said{spot: spot{chat, m.Topic}, id: m.ID, text: m.Text})
		}
	}
	slices.SortFunc(all, func(a, b said) int { return int(a.id - b.id) })
	return all
}

// await waits for a number of answered calls of a method.
func (s *scene) await(method string, n int) {
	s.t.Helper()
	s.p.api.Await(s.t, strconv.Itoa(n)+" calls of "+method, func() bool { return len(s.answered(method)) >= n })
}

// take keeps the words that a pattern finds in the newest message of the bot that has them.
func (s *scene) take(name, pattern string, all []said) bool {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return false
	}
	for _, m := range slices.Backward(all) {
		if found := re.FindStringSubmatch(m.text); len(found) > 1 {
			s.vars[name] = found[1]
			return true
		}
	}
	return false
}

// again stops the host and starts the next one on the same folder.
func (s *scene) again() {
	s.t.Helper()
	s.stop()
	s.h = nil
	s.begin()
}
