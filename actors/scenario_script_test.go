package actors_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
)

// The words of a script, one a line; what follows "=>" is what must come of it.
//
// Before anything is said:
//
//	set mode followup | lane 2 | sends 3 | caps drafts tools | idle 1m
//	set memory TURNS CHARS               take facts, and condense a memory longer than that
//	tool NAME [repeatable|ordered|asks|panics] answer JSON | fail TEXT | held NAME | hang once
//	prefix broken by WHY                 the requests of the chat need not extend each other
//	duplicates allowed by WHY            a text may stand twice
//
// What the model answers, in the order of its calls; a step has clauses between
// bars (text PIECE, think TEXT, long N, call ID NAME INPUT, held NAME, pause
// NAME, cut, fail REASON [retryable], stall, finish REASON):
//
//	model held A | text "Hel" | text lo | call c1 look {}
//	model rest CLAUSES                   for every request beyond the script
//
//	facts CLAUSES                        what the model answers about facts, in their order
//
// What happens; everything that needs no time has happened before the next line:
//
//	say WHO TEXT [=> duplicate | declined REASON | unavailable]
//	edit WHO NUMBER TEXT, again NUMBER   an edit, a redelivery of the inbound with this number
//	ignored WHO TEXT, refused WHO NOTICE what the platform's gate closed
//	overheard WHO TEXT                   ignored, of somebody who may be quoted (set quotes N)
//	stop [all] => true                   the button
//	release NAME, advance DURATION, chat KEY
//	memory => TEXT                       of the chat; also memory begins TEXT, backups => N, asked => …
//	rewind KEEP [=> busy]                the history to its first KEEP messages
//	crash before|after OPERATION         the process dies there; kill starts the next one
//	kill [DURATION]                      end as by SIGKILL and start anew, later by the duration
//	fail store|send WHAT HOW [TIMES]     HOW: full or broken; or a reason of the platform
//	heal                                 nothing fails any more
//	drain [=> stuck], watch, active N, stands N, running BOOL, waiting N

// scenario is one script being played.
type scenario struct {
	t       testing.TB
	o       actortest.Options
	w       *actortest.World
	store   *faulty
	model   *modeltest.Script
	sums    *modeltest.Script // of summaries; nil: chats only grow
	notes   *modeltest.Script // of facts; nil: none are taken
	sends   *sendFaults
	panics  *panics
	key     messages.ChatKey
	keys    []messages.ChatKey
	in      []platform.Inbound
	gates   map[string]chan struct{}
	watches []<-chan platform.Frame
	broken  string // why requests need not extend each other
	twice   string // why a text may stand twice
	paced   bool   // calls take time, see [actortest.Options.Pace]
	frames  strings.Builder

	repeated []string // texts that stand more than once
	marked   []string // texts of the ledger that may have been sent twice
}

type sendFaults struct {
	mu     sync.Mutex
	reason platform.SendReason
	skip   int // that many calls succeed first
	times  int
}

func (f *sendFaults) fail(string, int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.skip > 0 {
		f.skip--
		return nil
	}
	if f.times == 0 {
		return nil
	}
	f.times--
	passing := f.reason == platform.SendNetwork || f.reason == platform.SendServer || f.reason == platform.SendRate
	e := &platform.Error{Reason: f.reason, Retryable: passing, Err: errors.New("scripted")}
	if f.reason == platform.SendRate {
		e.RetryAfter = 3 * time.Second
	}
	return e
}

func (f *sendFaults) set(reason platform.SendReason, skip, times int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reason, f.skip, f.times = reason, skip, times
}

func newScenario(t *testing.T, disk persistence.Store) *scenario {
	t.Helper()
	s := &scenario{t: t, store: newFaulty(disk), model: modeltest.NewScript(), sends: &sendFaults{}, panics: &panics{}, gates: map[string]chan struct{}{}}
	s.o = actortest.Options{
		Store: s.store, Model: s.model,
		Platform: &actortest.Platform{Caps: platform.Capabilities{Outbox: true}, Fail: s.sends.fail},
	}
	s.o.Chat.Audit, s.o.Chat.GroupContext = s.panics.told, s.panics.quotes(0)
	s.key = alice
	return s
}

// use makes a chat the one that the script speaks of.
func (s *scenario) use(key messages.ChatKey) {
	s.key = key
	if !slices.Contains(s.keys, key) {
		s.keys = append(s.keys, key)
	}
}

func (s *scenario) play(script string) {
	s.t.Helper()
	for i, line := range strings.Split(script, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		line, want, _ := strings.Cut(line, " => ")
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		got, err := s.do(verb, strings.TrimSpace(rest))
		if err != nil {
			s.t.Fatalf("line %d: %s: %v", i+1, line, err)
		}
		if got != strings.TrimSpace(want) {
			s.t.Errorf("line %d: %s: came to %q, want %q", i+1, line, got, want)
		}
		s.settle()
	}
	s.world()
}

// settle lets everything happen that needs no time, or only that of a paced world.
func (s *scenario) settle() {
	if s.w == nil {
		return
	}
	s.w.Wait()
	if s.paced {
		<-time.After(5 * time.Millisecond)
		s.w.Wait()
	}
}

// world starts the actors with the first thing that happens.
func (s *scenario) world() *actortest.World {
	if s.w == nil {
		if s.paced {
			s.o.Pace()
		}
		s.w = actortest.New(s.t, s.o)
	}
	return s.w
}

func (s *scenario) do(verb, rest string) (string, error) {
	switch verb {
	case "set":
		return "", s.setting(rest)
	case "tool":
		return "", s.tool(rest)
	case "model":
		return "", s.answer(rest)
	case "prefix":
		s.broken = rest
	case "duplicates":
		s.twice = rest
	case "chat":
		s.use(messages.ChatKey(rest))
	case "release":
		close(s.gate(rest))
	case "say", "bot", "ignored", "overheard", "refused", "edit", "again":
		return s.ingress(verb, rest)
	case "stop":
		was, err := s.world().Port.Stop(context.Background(), s.key, platform.Person{ID: "button"}, rest == "all")
		return strconv.FormatBool(was), err
	case "facts", "memory":
		return s.remembered(verb, rest)
	case "rewind":
		return s.rewind(rest)
	case "advance":
		return "", s.advance(rest)
	case "drain":
		return s.drain(), nil
	case "watch":
		frames, err := s.world().Port.Watch(context.Background(), s.key)
		s.watches = append(s.watches, frames)
		return "", err
	case "crash", "kill", "fail", "heal":
		return "", s.fault(verb, rest)
	case "active", "stands", "running", "waiting":
		return "", s.check(verb, rest)
	default:
		return s.more(verb, rest)
	}
	return "", nil
}

func (s *scenario) gate(name string) chan struct{} {
	if s.gates[name] == nil {
		s.gates[name] = make(chan struct{})
	}
	return s.gates[name]
}

func (s *scenario) setting(rest string) error {
	name, value, _ := strings.Cut(rest, " ")
	n, _ := strconv.Atoi(value)
	switch name {
	case "memory":
		return s.rememberAt(value)
	case "mode":
		s.o.Chat.Mode = value
	case "quotes":
		s.o.Chat.GroupContext = s.panics.quotes(n)
	case "lane":
		s.o.Chat.MaxQueued = n
	case "sends":
		s.o.Chat.MaxSends = n
	case "idle":
		d, err := time.ParseDuration(value)
		s.o.Idle = d
		return err
	case "caps":
		caps := &s.o.Platform.Caps
		caps.Drafts, caps.ToolEgress = strings.Contains(value, "drafts"), strings.Contains(value, "tools")
		if strings.Contains(value, "pages") {
			caps.MaxText, s.o.Chat.Files = 4096, &actortest.Files{}
		}
		if strings.Contains(value, "nofiles") {
			caps.Files = []string{} // none, in place of all
		}
		if strings.Contains(value, "direct") {
			caps.Outbox = false
		}
		if caps.ToolEgress {
			s.o.Tools = append(s.o.Tools, actortest.Send())
		}
	default:
		return s.moreSettings(name, value)
	}
	return nil
}

// ingress hands something over that people did and says what became of it.
func (s *scenario) ingress(verb, rest string) (string, error) {
	s.use(s.key)
	who, text, _ := strings.Cut(rest, " ")
	var in platform.Inbound
	switch verb {
	case "again":
		n, err := strconv.Atoi(rest)
		if err != nil || n < 1 || n > len(s.in) {
			return "", fmt.Errorf("no inbound %q", rest)
		}
		return s.accept(s.in[n-1])
	case "edit":
		of, words, _ := strings.Cut(text, " ")
		in = s.world().Inbound(s.key, who, words)
		in.Kind, in.EditOf, in.MessageID, in.IngressID = platform.KindEdit, of, of, of+"/"+in.IngressID
	default:
		in = s.world().Inbound(s.key, who, text)
	}
	in.Sender.IsBot = verb == "bot"
	switch verb {
	case "ignored":
		in.Gate = platform.Gate{Reason: "unaddressed"}
	case "overheard":
		in.Gate = platform.Gate{Reason: "unaddressed", Quote: true}
	case "refused":
		in.Gate = platform.Gate{Refuse: true, Reason: "not_paired", Notice: text}
	}
	s.in = append(s.in, in)
	return s.accept(in)
}

func (s *scenario) accept(in platform.Inbound) (string, error) {
	r := s.world().Port.Accept(context.Background(), []platform.Inbound{in})[0]
	switch {
	case errors.Is(r.Err, platform.ErrUnavailable):
		return "unavailable", nil
	case r.Err != nil:
		return "", r.Err
	case r.Answer != "":
		return "said " + r.Answer, nil
	case r.Duplicate:
		return "duplicate", nil
	case r.Declined != "":
		return "declined " + r.Declined, nil
	}
	return "", nil
}

func (s *scenario) rewind(rest string) (string, error) {
	n, err := strconv.Atoi(rest)
	view, viewErr := s.world().Port.History(context.Background(), s.key)
	history := view.Messages
	if err = errors.Join(err, viewErr); err != nil || n > len(history) {
		return "", fmt.Errorf("%d messages, keep %q", len(history), rest)
	}
	keep := ""
	if n > 0 {
		keep = history[n-1].ID
	}
	err = s.w.Port.Rewind(context.Background(), s.key, keep)
	switch {
	case errors.Is(err, platform.ErrBusy):
		return "busy", nil
	case errors.Is(err, platform.ErrNotFound):
		return "not found", nil
	}
	return "", err
}

func (s *scenario) advance(rest string) error {
	d, err := time.ParseDuration(rest)
	if err == nil {
		s.world()
		<-time.After(d)
	}
	return err
}

// drain asks the tree to come to rest, as a host does that stops.
func (s *scenario) drain() string {
	root := s.world().System.Root
	if _, err := root.RequestFuture(s.w.Router, messages.Drain{}, 5*time.Second).Result(); err != nil {
		return "stuck"
	}
	return ""
}

func (s *scenario) fault(verb, rest string) error {
	words := strings.Fields(rest)
	switch verb {
	case "crash":
		s.store.set(func(f *faulty) { f.after, f.crash = words[0] == "after", words[1] })
	case "kill":
		return s.kill(rest)
	case "heal":
		s.store.set(func(f *faulty) { f.faults = nil })
		s.sends.set("", 0, 0)
	case "fail":
		times := 1
		if len(words) > 3 {
			times, _ = strconv.Atoi(words[3])
		}
		if words[0] == "send" {
			skip, _ := strconv.Atoi(words[1])
			s.sends.set(platform.SendReason(words[2]), skip, times)
			return nil
		}
		s.store.set(func(f *faulty) {
			f.faults = append(f.faults, fault{op: words[1], full: words[2] == "full", times: times})
		})
	}
	return nil
}

func (s *scenario) kill(later string) error {
	d := time.Duration(0)
	if later != "" {
		var err error
		if d, err = time.ParseDuration(later); err != nil {
			return err
		}
	}
	s.world().Kill()
	s.drainFrames()
	s.watches = nil
	<-time.After(d)
	s.store.revive()
	s.w = s.w.Again(nil)
	return nil
}

// check says what must hold in the middle of a script.
func (s *scenario) check(verb, rest string) error {
	got := ""
	switch verb {
	case "active":
		reply, err := s.world().System.Root.RequestFuture(s.w.Router, messages.StatsQuery{}, time.Second).Result()
		if err != nil {
			return err
		}
		stats, _ := reply.(messages.StatsReply)
		got = strconv.Itoa(stats.Active)
	case "stands":
		got = strconv.Itoa(len(s.world().Platform.Texts(s.key)))
	case "running":
		got = strconv.FormatBool(s.world().View(s.key).Running)
	case "waiting":
		got = strconv.Itoa(len(s.world().View(s.key).Waiting))
	}
	if got != rest {
		return fmt.Errorf("is %s", got)
	}
	return nil
}
