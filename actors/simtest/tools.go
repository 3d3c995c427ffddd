package simtest

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
)

// effect is the effect of a tool outside the host.
type effect struct {
	name  string
	times int
}

// tools are those that the model may use: look is repeatable, act is not, ask needs approval,
// chat_send sends a message.
func (l *life) tools() {
	l.set.Check = validate
	l.tool(tool.Spec{Name: "look", ReadOnly: true})
	l.tool(tool.Spec{Name: "act"})
	l.tool(tool.Spec{Name: "ask", Asks: true})
	l.tool(tool.Spec{Name: "note", Repeatable: true, Ordered: true})
	if l.sim.setup.toolEgress {
		l.set.Add(actortest.Func{Says: tool.Spec{Name: "chat_send", Repeatable: true, Ordered: true}, Do: l.send})
	}
}

func (l *life) tool(spec tool.Spec) {
	l.set.Add(actortest.Func{Says: spec, Do: func(ctx context.Context, call tool.Call) (tool.Result, error) {
		return l.use(ctx, spec, call)
	}})
}

// use has an effect, after a while, and may fail before and after it.
func (l *life) use(ctx context.Context, spec tool.Spec, call tool.Call) (tool.Result, error) {
	s, name := l.sim, spec.Name+" "+call.ID
	l.turn(name)
	if err := l.failure(ctx, name); err != nil {
		return tool.Result{}, err
	}
	if ctx.Err() != nil {
		return tool.Result{}, context.Cause(ctx)
	}
	k := number(call.Input)
	s.took(spec, k)
	l.turn(name + " done") // a crash may happen here
	if err := l.failure(ctx, name); err != nil {
		return tool.Result{}, err
	}
	output := `{"did":` + itoa(k) + `}`
	if s.o.Compacts && s.chance(5) {
		output = `{"did":` + itoa(k) + `,"text":"` + strings.Repeat("much ", 1000) + `"}`
	}
	return tool.Result{Output: json.RawMessage(output), Summary: name}, nil
}

// took records an effect: a call that is not repeatable has none twice, and a call that needs
// approval has none without it (P10, P11).
func (s *Sim) took(spec tool.Spec, k int) {
	s.trace.addf("  effect %s %d", spec.Name, k)
	e := s.effects[k]
	e.name = spec.Name
	e.times++
	s.effects[k] = e
	if e.times > 1 && !spec.ReadOnly && !spec.Repeatable && !spec.Asks {
		s.failf("P11 %s %d happened %d times", spec.Name, k, e.times)
	}
	if spec.Asks && !s.permitted[k] {
		s.failf("P10 %s %d happened without approval", spec.Name, k)
	}
}

func (l *life) failure(ctx context.Context, name string) error {
	s := l.sim
	if s.chance(4) {
		l.wait(name, s.upTo(2*time.Second), ctx.Done())
	}
	if !s.faulty() || !s.chance(5) {
		return nil
	}
	switch s.rnd.IntN(4) {
	case 0:
		s.fault("tool panic", name)
		panic("a fault in the tool")
	case 1:
		s.fault("tool error", name)
		return errors.New("the tool failed")
	case 2:
		s.fault("tool hangs", name)
		if !l.wait(name+" hangs", time.Hour, ctx.Done()) {
			return context.Cause(ctx)
		}
	default:
		s.fault("delay", name)
		l.wait(name+" late", s.upTo(20*time.Second), ctx.Done())
	}
	return nil
}

// send sends a message to the chat's people through its outbox.
func (l *life) send(ctx context.Context, call tool.Call) (tool.Result, error) {
	l.turn("chat_send " + call.ID)
	out := tool.Outgoing{Text: "Sent ·k" + itoa(number(call.Input)) + "·"}
	d, err := call.Egress.Send(ctx, call.ID, out)
	l.turn("chat_send " + call.ID + " queued")
	if err != nil {
		return tool.Result{}, err
	}
	raw, err := json.Marshal(d)
	return tool.Result{Output: raw, Final: l.sim.chance(3) && call.Run.Sole && call.Run.LaneEmpty}, err
}
