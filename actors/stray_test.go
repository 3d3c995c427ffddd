package actors_test

import (
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/actortest"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/messages"
)

// everyKind has a zero value of each message type, and some values of types that no actor knows.
func everyKind() []any {
	type nobodys struct{ Text *string }
	return []any{
		messages.Deliver{},
		messages.EgressKept{},
		messages.ForgetRows{},
		messages.ShowDraft{},
		messages.ShowTyping{},
		messages.ShowMark{},
		messages.ChatProgressed{},
		messages.WatchEnded{},
		messages.AcceptIngress{},
		messages.IngressAccepted{},
		messages.IngressRejected{},
		messages.StopRun{},
		messages.RunStopped{},
		messages.WatchChat{},
		messages.UnwatchChat{},
		messages.ViewQuery{},
		messages.ViewReply{},
		messages.RewindChat{},
		messages.ChatRewound{},
		messages.DecideApproval{},
		messages.ApprovalDecided{},
		messages.RevokeGrants{},
		messages.GrantsRevoked{},
		messages.ShowRequest{},
		messages.ReferredRequest{},
		messages.RequestShown{},
		messages.EndRequest{},
		messages.RequestEnded{},
		messages.DecideReferred{},
		messages.ReferredDecided{},
		messages.ReferRequests{},
		messages.RequestsReferred{},
		messages.ShowOutcomes{},
		messages.OutcomesShown{},
		messages.AskOutcome{},
		messages.GrantsChanged{},
		messages.WakeChat{},
		messages.EgressProgressed{},
		messages.EgressDelivered{},
		messages.EgressFailed{},
		messages.EgressDelayed{},
		messages.RunProgressed{},
		messages.StepRestarted{},
		messages.StepDone{},
		messages.ToolDone{},
		messages.StepEnded{},
		messages.RunFailed{},
		messages.QueueEgress{},
		messages.EgressAnswer{},
		messages.AcquireSlot{},
		messages.ReleaseSlot{},
		messages.OutboxQuery{},
		messages.OutboxReply{},
		messages.RetryParked{},
		messages.DropParked{},
		messages.ParkedSettled{},
		messages.StartRun{},
		messages.ContinueRun{},
		messages.ExecuteCalls{},
		messages.SlotGranted{},
		messages.Compact{},
		messages.CompactTurn{},
		messages.AgedTurn{},
		messages.ExtractMemory{},
		messages.MemoryExtracted{},
		messages.CompactionFinished{},
		messages.ShortenInput{},
		messages.InputShortened{},
		messages.AskPassivate{},
		messages.PassivateOK{},
		messages.PassivateBusy{},
		messages.ChatSized{},
		messages.ShardLoad{},
		messages.Shed{},
		messages.Drained{},
		messages.StatsQuery{},
		messages.StatsReply{},
		messages.ShardQuery{},
		messages.ShardReply{},
		messages.ActiveChat{},
		messages.UnloadChat{},
		messages.ChatUnloaded{},
		messages.Stray{},
		messages.Trim{},
		messages.ContextSwitch{},
		messages.Decision{},
		messages.DecisionOutcome{},
		messages.OpenRequest{},
		messages.ApprovedCall{},
		messages.AskedCall{},
		messages.Grant{},
		messages.Ask{},
		messages.OutboxItem{},
		messages.TasksChanged{},
		messages.RunTask{},
		messages.TaskStarted{},
		messages.Skill{},
		messages.SkillPin{},
		messages.SkillText{},
		messages.SkillOrder{},
		messages.PostWords{},
		messages.ForgetChat{},
		messages.ChatForgotten{},
		messages.WordsPosted{},
		&messages.StartRun{}, &messages.Deliver{}, (*messages.AcceptIngress)(nil),
		nobodys{},
		&nobodys{}, (*nobodys)(nil), "text", 42, []byte(nil), map[string]int(nil),
		struct{}{},
		error(nil) == nil,
	}
}

// Every actor gets every kind of message, with zero values, from a sender and without one. None panics, unknown
// messages are reported by their kind, and everything works as before.
func TestCL10EveryActorGetsEveryKind(t *testing.T) {
	all := everyKind()
	known := map[string]bool{"Drain": true} // the last one, below
	for _, k := range all {
		known[reflect.TypeOf(k).String()[strings.LastIndexByte(reflect.TypeOf(k).String(), '.')+1:]] = true
	}
	for _, name := range messageTypes(t) {
		if !known[name] {
			t.Errorf("the kind %s is not sent", name)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		script := modeltest.NewScript(modeltest.Step{Stall: true}, modeltest.Say("well"))
		w := actortest.New(t, actortest.Options{Store: newStore(t), Model: script})
		heard := listen(w.System)
		w.Say(alice, "alice", "go on")
		w.Wait()
		tree := living(w.System)
		for part, want := range map[string]int{"router": 1, "chat": 1, "run": 1, "adapter": 1, "shard": 256, "else": 1} {
			if tree[part] == nil || len(tree[part]) < want {
				t.Fatalf("%d actors of kind %s live, want %d", len(tree[part]), part, want)
			}
		}
		tree["shard"] = tree["shard"][:1]
		root := w.System.Root
		somebody := root.Spawn(actor.PropsFromFunc(func(actor.Context) {}))
		for _, part := range []string{"run", "chat", "adapter", "else", "shard", "router"} { // children first, parents end them
			pid := tree[part][0]
			for _, kind := range all {
				root.Send(pid, kind)
				root.RequestWithCustomSender(pid, kind, somebody)
				w.Wait()
			}
			if n := heard.strays(pid.Id); n < 20 {
				t.Errorf("%s told of %d stray messages, want those that are not its own", part, n)
			}
		}
		w.Say("telegram-chat-2", "bob", "are you well?")
		w.Wait()
		if got := w.Platform.Texts("telegram-chat-2"); len(got) != 1 || got[0] != "well" {
			t.Errorf("afterwards a chat answers %q", got)
		}
		for _, pids := range living(w.System) {
			for _, pid := range pids {
				root.Send(pid, messages.Drain{})
			}
		}
		w.Wait()
		root.Stop(somebody)
		if got := heard.panics(); len(got) > 0 {
			t.Errorf("panics: %v", got)
		}
	})
}

// living returns the live actors by their kind.
func living(system *actor.ActorSystem) map[string][]*actor.PID {
	out := map[string][]*actor.PID{}
	for _, bucket := range system.ProcessRegistry.LocalPIDs.LocalPIDs {
		for id, process := range bucket.Items() {
			if _, ok := process.(*actor.ActorProcess); !ok {
				continue
			}
			part := "else" // the model gate
			switch path := strings.Split(id, "/"); {
			case strings.HasPrefix(id, "adapter"):
				part = "adapter"
			case path[0] == "router":
				part = []string{"router", "shard", "chat", "run"}[len(path)-1]
			}
			out[part] = append(out[part], system.NewLocalPID(id))
		}
	}
	return out
}

// listener keeps what the actor system tells about mistakes.
type listener struct {
	mu     sync.Mutex
	stray  map[string]int
	failed []string
}

func listen(system *actor.ActorSystem) *listener {
	l := &listener{stray: map[string]int{}}
	system.EventStream.Subscribe(func(e any) {
		l.mu.Lock()
		defer l.mu.Unlock()
		switch e := e.(type) {
		case messages.Stray:
			l.stray[e.Actor]++
		case *actor.SupervisorEvent:
			if e.Directive != actor.ResumeDirective { // a guarded one: the typed nil
				l.failed = append(l.failed, e.Child.GetId())
			}
		}
	})
	return l
}

func (l *listener) strays(id string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stray[id]
}

func (l *listener) panics() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failed
}
