package ledger

import (
	"crypto/rand"
	"sort"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/window"
)

const (
	// maxQuestions is how many questions are open at most. When there are so many, limits refuse without a question.
	maxQuestions = 100
	// codeLength is how many letters and digits a code has: so many that the code of a closed question is not given
	// again by chance, and a late answer allows nothing.
	codeLength = 6
)

// Question asks whether as much again as a limit may be used until the window of the limit ends.
type Question struct {
	Code  string // for the answer
	Limit string // named as the setting of people
	// Chat and Person are those whose call the limit refused first.
	Chat   messages.ChatKey
	Person string
	At     time.Time // when it was refused or, once that is so, allowed

	allowed bool
	told    bool // by this process
}

// ask returns the open question about the limit that refused a call, and a new one if there is none. The limit of a run
// has none. first is set the first time that this process returns it.
func (l *Ledger) ask(call Call, limit string, now time.Time) (q Question, first bool) {
	w, ok := window.Of(limit)
	if !ok || !l.limits.Ask {
		return Question{}, false
	}
	asked := Question{Limit: limit, Chat: call.Chat, Person: call.Person, At: now}
	open, about := l.questions(), l.now[w].about(&asked)
	for _, q := range open {
		if q.Limit == limit && l.now[w].about(q) == about {
			first, q.told = !q.told, true
			return *q, first
		}
	}
	if len(open) >= maxQuestions {
		return Question{}, false
	}
	asked.Code, asked.told = strings.ToLower(rand.Text()[:codeLength]), true
	if err := l.note(&asked, isAsked); err != nil {
		l.failed(err)
		return Question{}, false
	}
	l.now[w].questions[asked.Code] = &asked
	return asked, true
}

// Questions returns the open questions, the oldest first.
func (l *Ledger) Questions() ([]Question, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.turn(time.Now()); err != nil {
		return nil, err
	}
	var out []Question
	for _, q := range l.questions() {
		out = append(out, *q)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].At.Before(out[j].At) })
	return out, nil
}

func (l *Ledger) questions() (open []*Question) {
	for _, p := range l.now {
		if p == nil {
			continue
		}
		for _, q := range p.questions {
			if !q.allowed {
				open = append(open, q)
			}
		}
	}
	return open
}

// Allow allows what an open question asks for. Calls that wait are decided again. It returns false if no open question
// has the code, as after the end of its window. After an error nothing is allowed.
func (l *Ledger) Allow(code string) (Question, bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if err := l.turn(now); err != nil {
		return Question{}, false, err
	}
	for _, q := range l.questions() {
		if q.Code != code {
			continue
		}
		answered := *q
		answered.At = now
		if err := l.note(&answered, isAllowed); err != nil {
			return Question{}, false, err
		}
		q.At = now
		w, _ := window.Of(q.Limit)
		l.now[w].allow(q)
		l.wake()
		return *q, true, nil
	}
	return Question{}, false, nil
}

// note records what has become of a question.
func (l *Ledger) note(q *Question, is string) error {
	return l.write(q.At.In(l.zone), line{ID: q.Code, Is: is, Limit: q.Limit, Call: Call{Chat: q.Chat, Person: q.Person}})
}

// take takes in what a line says of a question. The line that allows it may be in the file of a later day.
func (p *period) take(l line, at time.Time) {
	q := p.questions[l.ID]
	if q == nil {
		q = &Question{Code: l.ID, Limit: l.Limit, Chat: l.Chat, Person: l.Person, At: at}
		p.questions[l.ID] = q
	}
	if l.Is == isAllowed {
		p.allow(q)
	}
}

// allow raises the limit that a question is about, once.
func (p *period) allow(q *Question) {
	if q.allowed {
		return
	}
	q.allowed = true
	_, money := scopeOf(q.Limit)
	p.about(q).raise(money)
}

// about is the tally that the limit of a question is for.
func (p *period) about(q *Question) *tally {
	switch scope, _ := scopeOf(q.Limit); scope {
	case "Person":
		return tallyOf(p.persons, q.Person)
	case "Chat":
		return tallyOf(p.chats, q.Chat)
	default:
		return &p.host
	}
}
