package actors_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/actors/compaction"
	"github.com/shipmyagent/shipmyagent/actors/internal/tokens"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

// pairs is a chat in which everything is in progress at once: a history that can be compacted, an archived context, an
// open request, a voice message that is being transcribed, and perhaps a run in the middle of a call.
type pairs struct {
	*approvals
	post *post
	call func() // lets the call return
	hear func() // lets the voice come
	last platform.Inbound
	keep string // what a rewind keeps

	mu     sync.Mutex
	cuts   int
	breaks int // reasons given for requests that do not extend each other
	before *model.Request
	seen   int // of the reasons, when that was asked
	faults []string
}

// answer is the model of the chat.
func (p *pairs) answer(req model.Request) []model.Event {
	if strings.HasPrefix(req.System, "You write the memory") {
		return append(modeltest.TextEvents("Facts: none. Open items: none."), modeltest.Finish("stop"))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.extends(req)
	words, id := said(req.Messages), fmt.Sprintf("c%d", len(req.Messages))
	calls := func(c modeltest.Call) []model.Event {
		return append(modeltest.CallEvents(c), modeltest.Finish("tool-calls"))
	}
	switch last := req.Messages[len(req.Messages)-1]; {
	case last.Role == modelmessage.RoleTool:
	case strings.HasPrefix(words, "rm"):
		return calls(rm(id, words))
	case strings.HasPrefix(words, "look"):
		return calls(modeltest.Call{ID: id, Name: "look", Input: "{}"})
	case strings.HasPrefix(words, "cut") && p.cuts == 0:
		p.cuts++
		return modeltest.TextEvents("Half an ans") // and nothing after it
	}
	return append(modeltest.TextEvents("About "+words+" "+id), modeltest.Finish("stop"))
}

// extends requires that a request begins like the previous one, or that there is a reason why it does not.
func (p *pairs) extends(req model.Request) {
	if b := p.before; b != nil && p.seen == p.breaks {
		for i, m := range b.Messages {
			if i >= len(req.Messages) || !gocmp.Equal(m, req.Messages[i]) {
				p.faults = append(p.faults, "a request does not begin as the one before, for no reason: "+gocmp.Diff(b.Messages, req.Messages))
				break
			}
		}
	}
	p.before, p.seen = &req, p.breaks
}

func newPairs(t *testing.T) *pairs {
	t.Helper()
	p := &pairs{approvals: &approvals{t: t, tool: &asks{}}, post: &post{}}
	gate := make(chan struct{})
	p.call, p.hear = sync.OnceFunc(func() { close(gate) }), sync.OnceFunc(func() { close(p.post.gate("v")) })
	p.script = modeltest.NewFunc(p.answer)
	o := actortest.Options{
		Store: newStore(t), Model: p.script, Idle: time.Minute, Tools: actortest.Tools(p.tool, actortest.Slow("look", gate)),
		Compaction: &compaction.Options{Count: func(text string) (int, error) { return tokens.Bound(text), nil }, Keep: 2, Budget: 1 << 20},
	}
	o.Chat.Fetch, o.Chat.Contexts = p.post.fetch, true
	o.Chat.Commands = func(decision.Command) (string, bool) { return "done", true }
	o.Chat.PrefixBroken = func(string) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.breaks++
	}
	p.World = actortest.New(t, o)
	for _, words := range []string{"one", "/new", "two", "three", "four", "rm a"} {
		p.say(words)
		p.Wait()
		if words == "two" {
			messages := p.View(alice).Messages
			p.keep = messages[len(messages)-1].ID
		}
	}
	return p
}

// say sends a text, which the chat may refuse with a notice.
func (p *pairs) say(words string) {
	p.take(p.Inbound(alice, "alice", words))
}

func (p *pairs) take(in platform.Inbound) {
	p.t.Helper()
	if r := p.Port.Accept(context.Background(), []platform.Inbound{in})[0]; r.Err != nil {
		p.t.Errorf("%s %q: %v", in.Kind, in.Text, r.Err)
	}
	if in.Kind == platform.KindMessage {
		p.last = in
	}
}

// moment is an event that may happen at any time.
type moment struct {
	name string
	do   func(p *pairs)
}

func moments() []moment {
	return []moment{
		{"stop", func(p *pairs) { p.say("/stop") }},
		{"stop all", func(p *pairs) { p.say("/stop all") }},
		{"approval", func(p *pairs) {
			if ids := p.open(); len(ids) > 0 {
				p.decide(ids, true)
			}
		}},
		{"denial", func(p *pairs) { p.say("no") }},
		{"merge", func(p *pairs) { p.say("more") }},
		{"edit", func(p *pairs) {
			in := p.Inbound(alice, "alice", "changed")
			in.Kind, in.EditOf, in.MessageID = platform.KindEdit, p.last.MessageID, p.last.MessageID
			p.take(in)
		}},
		{"taken back", func(p *pairs) { p.take(recalled(p.last)) }},
		{"voice", func(p *pairs) { p.take(withFile(p.World, "", "v", "")) }},
		{"voice is there", func(p *pairs) { p.hear() }},
		{"cut", func(p *pairs) { p.say("cut") }},
		{"compaction", func(p *pairs) { p.say("/compact") }},
		{"new", func(p *pairs) { p.say("/new") }},
		{"load", func(p *pairs) { p.say("/load 1") }},
		{"rewind", func(p *pairs) { _ = p.Port.Rewind(context.Background(), alice, p.keep) }}, // busy, or the place is gone
		{"passivation", func(*pairs) { <-time.After(3 * time.Minute) }},
		{"kill", func(p *pairs) { p.again() }},
	}
}

// check lets everything complete and checks the result.
func (p *pairs) check() {
	p.t.Helper()
	p.call()
	p.hear()
	<-time.After(time.Hour) // requests expire, retries end
	p.say("end")
	<-time.After(time.Minute)
	history := p.history()
	if len(history) == 0 || !strings.HasPrefix(history[len(history)-1], "assistant: About end ") {
		p.t.Errorf("the chat does not answer any more: %q", history)
	}
	v := p.View(alice)
	var fates int64
	for _, n := range v.Counts.Fates {
		fates += n
	}
	if v.Running || v.Counts.Open != 0 || v.Counts.Pending != 0 || v.Counts.Accepted != fates {
		p.t.Errorf("running %v, counts %+v", v.Running, v.Counts)
	}
	if n := p.tool.ran.Load(); n > 1 {
		p.t.Errorf("the tool ran %d times", n)
	}
	for i, req := range p.script.Requests() {
		if err := modeltest.Strict(req); err != nil {
			p.t.Errorf("request %d: %v", i, err)
		}
	}
	seen := map[string]bool{}
	for _, text := range p.Platform.Texts(alice) {
		if strings.HasPrefix(text, "About ") && seen[text] {
			p.t.Errorf("%q is there twice", text)
		}
		seen[text] = true
	}
	p.again()
	if diff := gocmp.Diff(history, p.history()); diff != "" {
		p.t.Errorf("after a restart (-before +after):\n%s", diff)
	}
	if w := p.View(alice).Counts; w.Accepted != v.Counts.Accepted || w.Open != 0 {
		p.t.Errorf("after a restart: counts %+v, before %+v", w, v.Counts)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.faults {
		p.t.Error(f)
	}
}

// Every pair of events happens at rest, during a call, and while a voice message is being transcribed. Every ingress
// has one fate, every request is strict and extends the previous one or has a reason not to, nothing runs twice, and
// the chat continues, also after a restart.
func TestRL12MomentsInPairs(t *testing.T) {
	for _, during := range []string{"rest", "call", "voice"} {
		for i, first := range moments() {
			for j, second := range moments() {
				if !soaking() && (i+j+len(during))%9 != 0 {
					continue
				}
				t.Run(during+"/"+first.name+"/"+second.name, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						p := newPairs(t)
						switch during {
						case "call":
							p.say("look")
							p.Wait()
						case "voice":
							p.take(withFile(p.World, "", "v", ""))
						}
						first.do(p)
						second.do(p)
						p.Wait()
						p.check()
					})
				})
			}
		}
	}
}
