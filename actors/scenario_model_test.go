package actors_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
)

// answer adds a step to the model's script.
func (s *scenario) answer(rest string) error {
	rest, always := strings.CutPrefix(rest, "rest ")
	var step modeltest.Step
	for clause := range strings.SplitSeq(rest, " | ") {
		if err := s.clause(&step, strings.TrimSpace(clause)); err != nil {
			return fmt.Errorf("%s: %w", clause, err)
		}
	}
	if always {
		s.model.Otherwise = &step
		return nil
	}
	s.model.Add(step)
	return nil
}

func (s *scenario) clause(step *modeltest.Step, clause string) error {
	verb, rest, _ := strings.Cut(clause, " ")
	switch verb {
	case "text":
		words, err := unquote(rest)
		step.Text = append(step.Text, words)
		return err
	case "think":
		step.Reasoning = append(step.Reasoning, rest)
	case "long":
		n, err := strconv.Atoi(rest)
		step.Text = append(step.Text, long(n))
		return err
	case "call":
		id, more, _ := strings.Cut(rest, " ")
		name, input, _ := strings.Cut(more, " ")
		step.Calls = append(step.Calls, modeltest.Call{ID: id, Name: name, Input: input})
	case "held":
		step.Wait = s.gate(rest)
	case "pause":
		step.WaitAfterText = s.gate(rest)
	case "stall":
		step.Stall = true
	case "cut":
		step.Err = &model.Error{Reason: model.ReasonCut, Retryable: true, Message: "scripted cut"}
	case "fail":
		reason, retryable, _ := strings.Cut(rest, " ")
		step.Err = &model.Error{Reason: model.Reason(reason), Retryable: retryable != "", Message: "scripted"}
	case "finish":
		step.FinishReason = rest
	default:
		return errors.New("no such clause")
	}
	return nil
}

// unquote takes the quotes off, if there are any.
func unquote(s string) (string, error) {
	if strings.HasPrefix(s, `"`) {
		return strconv.Unquote(s)
	}
	return s, nil
}

// long is a text of numbered lines, n bytes long.
func long(n int) string {
	var b strings.Builder
	for i := 1; b.Len() < n; i++ {
		fmt.Fprintf(&b, "line %04d\n", i)
	}
	return b.String()[:n]
}

func (s *scenario) tool(rest string) error {
	f := actortest.Func{}
	words := strings.Fields(rest)
	f.Says.Name = words[0]
	for i, word := range words[1:] {
		arg := strings.Join(words[i+2:], " ")
		switch word {
		case "repeatable":
			f.Says.Repeatable = true
		case "ordered":
			f.Says.Ordered = true
		case "asks":
			f.Says.Asks = true
		case "answer", "fail", "held", "hang", "panic", "sendto":
			f.Do = s.work(word, arg)
			s.o.Tools = append(s.o.Tools, f)
			return nil
		default:
			return fmt.Errorf("%s: no such word", word)
		}
	}
	return errors.New("a tool that does nothing")
}

// work is what a tool does; the script counts how often it began.
func (s *scenario) work(how, arg string) func(context.Context, tool.Call) (tool.Result, error) {
	var began atomic.Int32
	var gate chan struct{}
	if how == "held" {
		gate = s.gate(arg)
	}
	return func(ctx context.Context, call tool.Call) (tool.Result, error) {
		n := began.Add(1)
		switch {
		case how == "fail":
			return tool.Result{}, errors.New(arg)
		case how == "panic":
			panic(arg)
		case how == "held":
			select {
			case <-gate:
			case <-ctx.Done():
				return tool.Result{}, context.Cause(ctx)
			}
		case how == "hang" && n == 1:
			<-ctx.Done()
			return tool.Result{}, context.Cause(ctx)
		case how == "sendto":
			d, err := call.Egress.SendTo(ctx, alice+"1", call.ID, tool.Outgoing{Text: arg})
			out, _ := json.Marshal(d) // a struct of plain members
			return tool.Result{Output: out}, err
		case how == "answer":
			return tool.Result{Output: json.RawMessage(arg)}, nil
		}
		return tool.Result{Output: json.RawMessage(strconv.Quote("done " + strconv.Itoa(int(n))))}, nil
	}
}
