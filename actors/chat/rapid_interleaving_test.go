package chat_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/filestore/filestoretest"
)

const rapidChat = messages.ChatKey("telegram-chat-7")

// interleavings draws events that may happen to a chat in any order. The words of a message say what the model does
// with it: answer, call tools, ask a person, or write nothing or nonsense.
func interleavings() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{
		"say hello", "say look", "say act", "say ask", "say both", "say mixed", "say nothing", "say broken", "say thought", "say again",
		"say look", "say act", "say ask", "say mixed",
		"stop", "stop all", "command", "approve", "deny", "approve late", "release", "crash", "crash later", "rewind", "cut", "wait", "rest", "long",
	})
}

// TestRL11AnyInterleavingIsValid plays any order of messages, stops, decisions, rewinds, cut streams and crashes. The
// strict validator must accept every request to the model, and in the end the chat must answer.
func TestRL11AnyInterleavingIsValid(t *testing.T) {
	checks := "12"
	if os.Getenv("SOAK") != "" {
		checks = "400"
	}
	old := flag.Lookup("rapid.checks").Value.String()
	stdtest.Must(t, flag.Set("rapid.checks", checks))
	defer func() { _ = flag.Set("rapid.checks", old) }()
	steps, requests := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		script := rapid.SliceOfN(interleavings(), 20, 60).Draw(rt, "script")
		mode := rapid.SampledFrom([]string{"merge", "followup", "interrupt"}).Draw(rt, "mode")
		byTool := rapid.Bool().Draw(rt, "chat_send")
		var failed string
		synctest.Test(t, func(t *testing.T) {
			p := newPlay(t, mode, byTool)
			failed = p.all(script)
			requests += len(p.model.Requests())
		})
		steps += len(script)
		if failed != "" {
			rt.Fatal(failed)
		}
	})
	t.Logf("%d steps, %d requests", steps, requests)
}

// play is one chat that follows a script.
type play struct {
	w     *actortest.World
	model *modeltest.Script

	mu      sync.Mutex
	release chan struct{}
	cut     bool // the next answer is cut off
	calls   int
}

// gate is the channel that an act waits for.
func (p *play) gate() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.release
}

// let releases everything that waits.
func (p *play) let() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.release)
	p.release = make(chan struct{})
}

func newPlay(t *testing.T, mode string, byTool bool) *play {
	t.Helper()
	p := &play{release: make(chan struct{})}
	p.model = modeltest.NewFunc(p.answer)
	held := actortest.Func{Says: tool.Spec{Name: "act"}, Do: func(ctx context.Context, _ tool.Call) (tool.Result, error) {
		select {
		case <-p.gate():
			return tool.Result{Output: json.RawMessage(`"acted"`)}, nil
		case <-ctx.Done():
			return tool.Result{}, context.Cause(ctx)
		}
	}}
	o := actortest.Options{
		Store: filestoretest.New(t), Model: p.model, Idle: time.Minute,
		Platform: &actortest.Platform{Caps: platform.Capabilities{Outbox: true, ToolEgress: byTool}},
		Tools: []tool.Tool{
			actortest.Func{Says: tool.Spec{Name: "look", ReadOnly: true}, Do: func(context.Context, tool.Call) (tool.Result, error) {
				return tool.Result{Output: json.RawMessage(`{"seen":1}`)}, nil
			}},
			held,
			actortest.Func{Says: tool.Spec{Name: "ask", Asks: true}, Do: func(context.Context, tool.Call) (tool.Result, error) {
				return tool.Result{Output: json.RawMessage(`"asked"`)}, nil
			}},
		},
	}
	if byTool {
		o.Tools = append(o.Tools, actortest.Send())
	}
	o.Chat.Mode = mode
	p.w = actortest.New(t, o)
	return p
}

// answer does what the newest words ask for; after a tool result it writes text.
func (p *play) answer(req model.Request) []model.Event {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := req.Messages[len(req.Messages)-1]
	call := func(name, input string) modeltest.Call {
		p.calls++
		return modeltest.Call{ID: fmt.Sprintf("c%d", p.calls), Name: name, Input: input}
	}
	input := fmt.Sprintf(`{"n":%d}`, p.calls)
	if p.cut {
		p.cut = false
		return modeltest.TextEvents("broken off") // no finish: it was cut
	}
	words := ""
	if last.Role == modelmessage.RoleUser {
		if text, ok := last.Parts[len(last.Parts)-1].(modelmessage.Text); ok {
			words = text.Text
		}
	}
	calls := map[string][]modeltest.Call{
		"look": {call("look", input)}, "act": {call("act", input)}, "ask": {call("ask", input)},
		"both": {call("ask", input), call("ask", `{"other":true}`)}, "again": {call("ask", `{"n":"same"}`)},
		"mixed": {call("look", input), call("ask", input), call("act", input)}, "broken": {call("look", `{"n`), call("nothing", input)},
	}[words]
	switch {
	case len(calls) > 0:
		return append(modeltest.CallEvents(calls...), modeltest.Finish("tool-calls"))
	case words == "nothing":
		return []model.Event{modeltest.Finish("stop")}
	case words == "thought":
		return append(modeltest.ReasoningEvents("hm"), modeltest.Finish("stop"))
	}
	return append(modeltest.TextEvents("Well: "+words), modeltest.Finish("stop"))
}

// all plays a script and returns the first violation.
func (p *play) all(script []string) string {
	for i, line := range script {
		p.do(line)
		p.w.Wait()
		if faults := p.model.Faults(); len(faults) > 0 {
			return fmt.Sprintf("after %d %q: %v", i, line, faults[0])
		}
	}
	p.let()
	p.again(time.Hour)
	r := p.w.Port.Accept(context.Background(), []platform.Inbound{p.w.Inbound(rapidChat, "alice", "say hello")})
	<-time.After(time.Hour)
	switch v := p.view(); {
	case r[0].Err != nil:
		return "the chat takes nothing any more: " + r[0].Err.Error()
	case v.Running || v.Counts.Open > 0:
		return fmt.Sprintf("not at rest: %+v", v.Counts)
	case len(p.model.Faults()) > 0:
		return "in the end: " + p.model.Faults()[0].Error()
	}
	return ""
}

func (p *play) view() platform.ChatView {
	v, _ := p.w.Port.History(context.Background(), rapidChat) // an error leaves an empty view
	return v
}

func (p *play) again(later time.Duration) {
	p.w.Kill()
	<-time.After(later)
	p.w = p.w.Again(nil)
}

func (p *play) do(line string) {
	ctx, alice := context.Background(), platform.Person{ID: "alice"}
	words, says := strings.CutPrefix(line, "say ")
	switch {
	case says:
		p.w.Port.Accept(ctx, []platform.Inbound{p.w.Inbound(rapidChat, "alice", words)})
	case line == "command":
		p.w.Port.Accept(ctx, []platform.Inbound{p.w.Inbound(rapidChat, "alice", "/stop")})
	case strings.HasPrefix(line, "stop"):
		_, _ = p.w.Port.Stop(ctx, rapidChat, alice, line == "stop all") // there may be no run
	case strings.HasPrefix(line, "approve"), line == "deny":
		p.decide(line)
	case line == "release":
		p.let()
	case line == "crash":
		p.again(0)
	case line == "crash later":
		p.again(11 * time.Minute)
	case line == "rewind":
		if m := p.view().Messages; len(m) > 1 {
			_ = p.w.Port.Rewind(ctx, rapidChat, m[len(m)/2].ID) // a run may be in progress
		}
	case line == "cut":
		p.mu.Lock()
		p.cut = true
		p.mu.Unlock()
	default:
		<-time.After(map[string]time.Duration{"wait": time.Second, "rest": 3 * time.Minute, "long": 31 * time.Minute}[line])
	}
}

// decide answers the oldest open request, or else the newest one.
func (p *play) decide(line string) {
	var ids []string
	for _, m := range p.view().Messages {
		for _, part := range m.Parts {
			if c, ok := part.(uimessage.Tool); ok && c.Approval != nil && (c.State == uimessage.ToolApprovalRequested || line == "approve late") {
				ids = append(ids, c.Approval.ID)
			}
		}
	}
	if len(ids) == 0 {
		return
	}
	id := ids[0]
	if line == "approve late" {
		id = ids[len(ids)-1]
	}
	say := []messages.Decision{{ApprovalID: id, Approved: line != "deny"}}
	_, _ = p.w.Port.Decide(context.Background(), rapidChat, platform.Person{ID: "alice"}, say) // checked later
}
