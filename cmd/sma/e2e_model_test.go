package main_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

// minPause is how long an answer rests at a gate at least: hosts send pieces that
// come close together in one go.
const minPause = 250 * time.Millisecond

// gatedModel says what the last user turn tells it to say, which is a list of
// pieces with | between them:
//
//	@name        wait until the test opens this gate
//	#tool {...}  call this tool, after the text
//	!cut         break off here; the next time, go on
//	!other       say the next piece and break off; the next time, leave that piece out
//	!long        refuse the request as too long before the first word; the next time, go on
//	!refuse      refuse, as a provider does that dislikes the request
//	anything     say it
//
// After a tool's result it says what the tool gave. A test can teach it a part: then people
// write ordinary words, and the pieces are looked up.
type gatedModel struct {
	mu    sync.Mutex
	part  map[string][]string // by a person's words: the pieces of each step of the answer
	gates map[string]*gate
	cuts  map[string]bool // turns whose answer broke off already
	calls int
}

// gate is a place where an answer waits.
type gate struct {
	reached, opened         chan struct{}
	reachedOnce, openedOnce sync.Once
}

func newGatedModel() *gatedModel {
	return &gatedModel{gates: map[string]*gate{}, cuts: map[string]bool{}}
}

func (m *gatedModel) gate(name string) *gate {
	m.mu.Lock()
	defer m.mu.Unlock()
	g := m.gates[name]
	if g == nil {
		g = &gate{reached: make(chan struct{}), opened: make(chan struct{})}
		m.gates[name] = g
	}
	return g
}

func (m *gatedModel) open(name string) {
	g := m.gate(name)
	g.openedOnce.Do(func() { close(g.opened) })
}

func (m *gatedModel) waitReached(ctx context.Context, name string) error {
	select {
	case <-m.gate(name).reached:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (m *gatedModel) pause(ctx context.Context, name string) error {
	g := m.gate(name)
	g.reachedOnce.Do(func() { close(g.reached) })
	timer := time.NewTimer(minPause)
	defer timer.Stop()
	opened, rested := (<-chan struct{})(g.opened), timer.C
	for opened != nil || rested != nil {
		select {
		case <-opened:
			opened = nil
		case <-rested:
			rested = nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// rest lets what was said travel before something else happens.
func (m *gatedModel) rest(ctx context.Context) error {
	timer := time.NewTimer(minPause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// cutNow reports whether an answer to these words has to break off: once.
func (m *gatedModel) cutNow(words string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	first := !m.cuts[words]
	m.cuts[words] = true
	return first
}

// learn teaches the model a part.
func (m *gatedModel) learn(part map[string][]string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.part = part
}

// line returns the part's line for this step of the answer, or the script unchanged if there is none.
func (m *gatedModel) line(list []modelmessage.Message) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	step := 0
	for i, message := range slices.Backward(list) {
		if message.Role == modelmessage.RoleAssistant {
			step++
		}
		if message.Role != modelmessage.RoleUser {
			continue
		}
		for words, steps := range m.part { // a file brings its name with it
			if strings.Contains(toSay(list[:i+1]), words) && step < len(steps) {
				return steps[step]
			}
		}
		break
	}
	return toSay(list)
}

func (m *gatedModel) nextCall() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	return fmt.Sprintf("call_%d", m.calls)
}

func (m *gatedModel) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		script := m.line(req.Messages)
		if slices.Contains(strings.Split(script, "|"), "!long") && m.cutNow(script) {
			yield(model.Event{}, &model.Error{Reason: model.ReasonTooLong, Message: "too long on purpose"})
			return
		}
		var calls []modeltest.Call
		other := ""
		for piece := range strings.SplitSeq(script, "|") {
			var err error
			if other != "" {
				if other = ""; !m.cutNow(script) {
					continue
				}
				if !yield(model.Event{Kind: model.EventTextDelta, ID: "0", Delta: piece}, nil) {
					return
				}
				err = m.rest(ctx)
				yield(model.Event{}, cmp.Or(err, error(&model.Error{Reason: model.ReasonCut, Message: "cut on purpose"})))
				return
			}
			switch {
			case piece == "!other":
				other = piece
				continue
			case strings.HasPrefix(piece, "@"):
				err = m.pause(ctx, piece[1:])
			case strings.HasPrefix(piece, "#"):
				tool, input, _ := strings.Cut(piece[1:], " ")
				calls = append(calls, modeltest.Call{ID: m.nextCall(), Name: tool, Input: input})
				continue
			case piece == "!cut":
				if m.cutNow(script) {
					err = &model.Error{Reason: model.ReasonCut, Message: "cut on purpose"}
				}
			case piece == "!long":
				continue
			case piece == "!refuse":
				err = &model.Error{Reason: model.ReasonFiltered, Message: "refused on purpose"}
			default:
				if !yield(model.Event{Kind: model.EventTextDelta, ID: "0", Delta: piece}, nil) {
					return
				}
				continue
			}
			if err != nil {
				yield(model.Event{}, err)
				return
			}
		}
		reason := "stop"
		if len(calls) > 0 {
			reason = "tool-calls"
		}
		for _, e := range append(modeltest.CallEvents(calls...), modeltest.Finish(reason)) {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// toSay is the script of the last message: a person's words, or what a tool gave.
func toSay(list []modelmessage.Message) string {
	if len(list) == 0 {
		return "nothing was asked"
	}
	last := list[len(list)-1]
	if last.Parts == nil {
		return words([]string{last.Text})
	}
	var texts []string
	for _, part := range last.Parts {
		if text, ok := part.(modelmessage.Text); ok {
			texts = append(texts, text.Text)
		}
		if result, ok := part.(modelmessage.ToolResult); ok {
			texts = append(texts, "the tool gave "+output(result.Output))
		}
	}
	return words(texts)
}

func output(o modelmessage.Output) string {
	if len(o.JSON) > 0 {
		return string(o.JSON)
	}
	text, err := json.Marshal(o.Text)
	if err != nil {
		return err.Error() // Unreachable: strings always encode.
	}
	return string(text)
}
