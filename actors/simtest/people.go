package simtest

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// post is one action of a person in a chat; the platform delivers it until it is acknowledged, and
// sometimes again.
type post struct {
	platform.Inbound
	n     int
	plain bool // a message for the model, nothing else
	acked bool
	turn  string // the turn that it became, if known
}

// people are all who write, with what the platform stores about them.
type people struct {
	sim     *Sim
	posts   []*post
	pending []*post
	wake    chan struct{}
	acked   map[messages.ChatKey][]*post
	byTurn  map[string]*post

	stops map[string]bool // request ids and names of those who may stop
	yes   map[string]bool // request ids and approval ids of what was approved
}

func newPeople(s *Sim) *people {
	return &people{
		sim: s, wake: make(chan struct{}, 1), acked: map[messages.ChatKey][]*post{}, byTurn: map[string]*post{},
		stops: map[string]bool{}, yes: map[string]bool{},
	}
}

func (p *people) inbound(key messages.ChatKey, text string) *post {
	n := len(p.posts) + 1
	return &post{n: n, Inbound: actortest.Inbound(key, n, "alice", text, p.sim.place())}
}

func (p *people) say(in *post) {
	p.posts = append(p.posts, in)
	p.pending = append(p.pending, in)
	p.sim.trace.addf("post %s %s %q", in.ChatKey, in.IngressID, in.Text)
	p.nudge()
}

func (p *people) nudge() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// batch is what the platform delivers next.
func (p *people) batch() []*post {
	var out []*post
	taken := map[messages.ChatKey]bool{}
	for _, in := range p.pending {
		if len(out) == 4 || p.sim.setup.strict && taken[in.ChatKey] {
			continue
		}
		taken[in.ChatKey] = true
		out = append(out, in)
	}
	if p.sim.faulty() && len(p.posts) > 0 && p.sim.chance(2) {
		again := p.posts[p.sim.rnd.IntN(len(p.posts))]
		if again.acked || slices.Contains(out, again) {
			p.sim.fault("duplicate delivery", again.IngressID)
			out = append(out, again)
		}
	}
	if p.sim.faulty() && len(out) > 1 && p.sim.chance(2) {
		slices.SortStableFunc(out, func(a, b *post) int { return strings.Compare(string(b.ChatKey), string(a.ChatKey)) })
		p.sim.fault("reorder", "across chats")
	}
	return out
}

// receive is the platform's receiver: it acknowledges only what was acknowledged to it.
func (l *life) receive(name string) {
	p := l.sim.people
	for {
		l.turn(name)
		batch := p.batch()
		if len(batch) == 0 {
			select {
			case <-p.wake:
			case <-l.ended:
				return
			}
			continue
		}
		in := make([]platform.Inbound, len(batch))
		for i, b := range batch {
			in[i] = b.Inbound
		}
		results := l.port.Accept(context.Background(), in)
		l.turn(name + " heard")
		failed := false
		for i, r := range results {
			failed = p.heard(batch[i], r) || failed
		}
		l.turn(name + " confirms") // if it crashes before, the platform delivers again
		p.pending = slices.DeleteFunc(p.pending, func(in *post) bool { return in.acked })
		if failed {
			l.wait(name+" again", time.Second, nil)
		}
	}
}

func (p *people) heard(in *post, r platform.Result) (failed bool) {
	p.sim.trace.addf("  %s %s: %+v", in.ChatKey, in.IngressID, r)
	if r.Err != nil {
		return true
	}
	if in.acked {
		if !r.Duplicate {
			p.sim.failf("P1 %s %s was accepted twice", in.ChatKey, in.IngressID)
		}
		return false
	}
	in.acked = true
	if w := p.sim.witness(in.ChatKey); r.Declined == "" && (!r.Duplicate || in.plain && w.state != nil && w.state.Has(r.TurnID)) {
		in.turn = r.TurnID
	}
	if in.turn != "" {
		p.byTurn[in.turn] = in
	}
	p.acked[in.ChatKey] = append(p.acked[in.ChatKey], in)
	p.sim.witness(in.ChatKey).touched = true
	return false
}

// ordered reports whether a person requested the stop.
func (p *people) ordered(f journal.StopRequested) bool {
	return p.stops[f.RequestID] || p.stops[strings.TrimPrefix(f.By, "stopped by ")] || p.sim.setup.mode == "interrupt"
}

// approved reports whether a person approved.
func (p *people) approved(f journal.ApprovalDecided) bool {
	return p.yes[f.RequestID] || p.yes[f.ApprovalID]
}

// write posts a random kind of message.
func (p *people) write(key messages.ChatKey) {
	s := p.sim
	switch n := s.rnd.IntN(20); {
	case n < 12:
		p.plain(key)
	case n < 13:
		p.command(key, "/stop")
	case n < 14:
		p.command(key, "/stop all")
	case n < 15 && s.o.Compacts:
		p.command(key, []string{"/compact", "/compact", "/new", "/load 1"}[s.rnd.IntN(4)])
	case n < 15:
		p.command(key, "/status")
	case n < 16:
		in := p.inbound(key, "to somebody else "+s.token())
		in.Gate = platform.Gate{Reason: "unaddressed"}
		p.say(in)
	case n < 17:
		in := p.inbound(key, "let me in "+s.token())
		in.Gate = platform.Gate{Refuse: true, Reason: "not_paired", Notice: "Not you: " + s.token()}
		p.say(in)
	case n < 18:
		p.edit(key)
	default:
		p.decide(key)
	}
}

func (p *people) plain(key messages.ChatKey) {
	in := p.inbound(key, "word "+p.sim.token())
	in.plain = true
	p.say(in)
}

func (p *people) command(key messages.ChatKey, text string) {
	in := p.inbound(key, text)
	if strings.HasPrefix(text, "/stop") {
		p.stops[in.RequestID] = true
	}
	p.say(in)
}

func (p *people) edit(key messages.ChatKey) {
	var mine []*post
	for _, in := range p.posts[max(0, len(p.posts)-20):] {
		if in.ChatKey == key && in.plain {
			mine = append(mine, in)
		}
	}
	if len(mine) == 0 {
		return
	}
	of := mine[p.sim.rnd.IntN(len(mine))]
	in := p.inbound(key, "rather "+p.sim.token())
	in.Kind, in.EditOf, in.IngressID, in.MessageID = platform.KindEdit, of.MessageID, of.MessageID+"/"+in.IngressID, of.MessageID
	p.say(in)
}

// decide answers a request in words or by a button: the right one, another one, or none.
func (p *people) decide(key messages.ChatKey) {
	s := p.sim
	w := s.witness(key)
	n, approval, piece := 1+s.rnd.IntN(3), "none", ""
	if w.state != nil {
		open := w.state.OpenRequests()
		if seen := p.shown(key); len(seen) > 0 && s.chance(2) {
			at := seen[s.rnd.IntN(len(seen))]
			piece = at.Pieces[s.rnd.IntN(len(at.Pieces))].ID
			open = slices.DeleteFunc(open, func(a journal.Asked) bool { return !slices.Contains(at.Requests, a.Request.ID) })
		}
		if len(open) > 0 {
			r := open[s.rnd.IntN(len(open))].Request
			n, approval = r.N, r.ID
		}
	}
	yes := s.chance(2)
	switch s.rnd.IntN(4) {
	case 0:
		p.words(key, piece, yes, "yes", "no")
	case 1:
		p.words(key, piece, yes, "/approve "+itoa(n), "/deny "+itoa(n))
	default:
		p.press(key, approval, yes)
	}
}

// shown are the rows that show open requests, as far as is durable.
func (p *people) shown(key messages.ChatKey) []journal.Showing {
	w := p.sim.witness(key)
	if w.state == nil {
		return nil
	}
	open := w.state.OpenRequests()
	return slices.DeleteFunc(slices.Clone(w.state.Shown), func(o journal.Showing) bool {
		return !slices.ContainsFunc(open, func(a journal.Asked) bool { return slices.Contains(o.Requests, a.Request.ID) })
	})
}

// words answer a message, if an id is given.
func (p *people) words(key messages.ChatKey, answers string, yes bool, agree, refuse string) {
	text := refuse
	if yes {
		text = agree
	}
	in := p.inbound(key, text)
	in.ReplyTo = answers
	if p.yes[in.RequestID] = yes; !yes {
		delete(p.yes, in.RequestID)
	}
	p.say(in)
}

// press presses the button of a request, perhaps twice.
func (p *people) press(key messages.ChatKey, approval string, yes bool) {
	l := p.sim.life
	if yes {
		p.yes[approval] = true
	}
	p.sim.trace.addf("press %s %s %t", key, approval, yes)
	l.start("button", func(string) {
		say := []messages.Decision{{ApprovalID: approval, Approved: yes}}
		_, _ = l.port.Decide(context.Background(), key, platform.Person{ID: "alice", Name: "alice"}, say) // see the chat's state
	})
}

// order does what web and API can: stop, and cut the history.
func (p *people) order(key messages.ChatKey) {
	s, l := p.sim, p.sim.life
	if s.chance(2) {
		by := "button" + s.token()
		p.stops[by] = true
		s.fault("stop", string(key))
		l.start("stopper", func(string) {
			_, _ = l.port.Stop(context.Background(), key, platform.Person{ID: by}, s.setup.stopAll) // see the chat's state
		})
		return
	}
	p.regenerate(key)
}

// regenerate cuts the history before a user turn and sends the turn again, like the web platform.
func (p *people) regenerate(key messages.ChatKey) {
	s, l := p.sim, p.sim.life
	w := s.witness(key)
	if w.state == nil || len(w.state.History) == 0 {
		return
	}
	at := s.rnd.IntN(len(w.state.History))
	keep := ""
	if at > 0 {
		keep = w.state.History[at-1].ID
	}
	s.fault("regenerate", string(key))
	s.trace.addf("rewind %s to %d", key, at)
	l.start("rewinder", func(name string) {
		if l.port.Rewind(context.Background(), key, keep) == nil {
			l.turn(name + " asks again")
			p.plain(key)
		}
	})
}
