package actors_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/messages"
)

// More words of a script:
//
//	bot WHO TEXT [=> declined REASON]    a message of another bot
//	panics EVENT RESULT TIMES            the chat panics when it tells the audit log of this;
//	                                     ingress open: while it decides about an ingress
//	outbox => KIND STATE TEXT; …         what an operator sees
//	retry WHAT, drop WHAT [=> REASON]    WHAT: all, or the number of an item
//
//	summary CLAUSES                      what the model writes as a summary, in their order
//	archived => N for M, …               kill; lines of the chat's archives, and the messages they stand for
//
//	contexts => N TITLE; …               turns and title of the contexts in the archive, the newest first
//
// set contexts on | fair on | debounce 200ms | compact KEEP BUDGET [extract]

// panics makes the chat panic when it writes something to the audit log, which is durable by then, or while it decides
// about an ingress, which is not.
type panics struct {
	mu            sync.Mutex
	event, result string
	times         int
}

func (p *panics) told(e decision.AuditEntry) {
	if e.Event != "ingress" {
		p.at(e)
	}
}

func (p *panics) at(e decision.AuditEntry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.times > 0 && e.Event == p.event && e.Result == p.result {
		p.times--
		panic("scripted: " + e.Event)
	}
}

// quotes is for [chat.Options.GroupContext], which is asked while an ingress is decided about.
func (p *panics) quotes(n int) func(messages.ChatKey) int {
	return func(key messages.ChatKey) int {
		p.at(decision.AuditEntry{ChatKey: key, Event: "ingress", Result: "open"})
		return n
	}
}

func (p *panics) set(event, result string, times int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.event, p.result, p.times = event, result, times
}

func (s *scenario) more(verb, rest string) (string, error) {
	switch verb {
	case "panics":
		words := strings.Fields(rest)
		if len(words) != 3 {
			return "", errors.New("panics EVENT RESULT TIMES")
		}
		times, err := strconv.Atoi(words[2])
		s.panics.set(words[0], words[1], times)
		return "", err
	case "outbox":
		return s.outbox()
	case "contexts":
		return s.contexts()
	case "summary":
		return "", s.summary(rest)
	case "archived":
		return s.archived()
	case "metric":
		return strconv.FormatFloat(s.metricSum(rest), 'f', -1, 64), nil
	case "retry", "drop":
		return s.settleParked(verb, rest)
	}
	return "", errors.New("no such word")
}

func (s *scenario) moreSettings(name, value string) error {
	switch name {
	case "fair":
		s.o.Chat.FairToSenders = value == "on"
	case "compact":
		return s.compactAt(value)
	case "contexts":
		s.withContexts()
	case "debounce":
		d, err := time.ParseDuration(value)
		s.o.Chat.Debounce = d
		return err
	default:
		return errors.New("no such setting")
	}
	return nil
}

func (s *scenario) items() ([]messages.OutboxItem, error) {
	w := s.world()
	reply, err := w.System.Root.RequestFuture(w.Router, messages.OutboxQuery{ChatKey: s.key}, time.Minute).Result()
	if err != nil {
		return nil, err
	}
	r, ok := reply.(messages.OutboxReply)
	if !ok || r.Err != "" {
		return nil, fmt.Errorf("answered %+v", reply)
	}
	return r.Items, nil
}

func (s *scenario) outbox() (string, error) {
	items, err := s.items()
	var out []string
	for _, i := range items {
		line := fmt.Sprintf("%s %s %s", i.Kind, i.State, short(i.Text))
		if i.LastError != "" {
			line += fmt.Sprintf(" (%s, %d tries)", i.LastError, i.Tries)
		}
		out = append(out, line)
	}
	return strings.Join(out, "; "), err
}

func (s *scenario) settleParked(verb, what string) (string, error) {
	id := ""
	if what != "all" {
		items, err := s.items()
		n, _ := strconv.Atoi(what)
		if err != nil || n > len(items) {
			return "", errors.Join(err, fmt.Errorf("%d items", len(items)))
		}
		if id = "nobody/1"; n > 0 {
			id = items[n-1].ID
		}
	}
	w := s.world()
	var msg any = messages.RetryParked{ChatKey: s.key, By: "operator", ID: id}
	if verb == "drop" {
		msg = messages.DropParked{ChatKey: s.key, By: "operator", ID: id}
	}
	reply, err := w.System.Root.RequestFuture(w.Router, msg, time.Minute).Result()
	if err != nil {
		return "", err
	}
	r, ok := reply.(messages.ParkedSettled)
	switch {
	case !ok:
		return "", fmt.Errorf("answered %+v", reply)
	case r.Err != "":
		return "unavailable", nil
	case r.Reason != "":
		return r.Reason, nil
	}
	return strconv.Itoa(len(r.IDs)), nil
}
