package chat

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/requests"
	"github.com/shipmyagent/shipmyagent/actors/internal/pipe"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// fetchDeadline is how long a turn waits for its files.
const fetchDeadline = 3 * time.Minute

// Reasons why a file is missing.
const (
	fileLate  = "it did not arrive in time"
	fileFault = "a fault of the host"
)

// carryOut carries out an effect that ends here: whatever follows from it reaches the chat as a message.
func (s *shell) carryOut(ac actor.Context, e decision.Effect) {
	switch e := e.(type) {
	case decision.Send:
		send(ac, pidOf(e.To), e.Msg, e.Asks)
	case decision.Route:
		send(ac, s.o.Router, e.Msg, e.Asks)
	case decision.Report:
		send(ac, ac.Parent(), e.Msg, false)
	case decision.Start:
		s.start(ac, e)
	case decision.Tell:
		send(ac, s.children[e.Name], e.Msg, false)
	case decision.Stop:
		if pid := s.children[e.Name]; pid != nil {
			ac.Stop(pid)
			delete(s.children, e.Name)
		}
	case decision.FetchFiles:
		s.fetch(e)
	case decision.CancelFetch:
		if cancel := s.fetches[e.N]; cancel != nil {
			cancel()
			delete(s.fetches, e.N)
		}
	case decision.GatherRequests:
		s.gather(e)
	case decision.Audit:
		s.o.Audit(e.Entry)
	case decision.PrefixBroken:
		if s.o.PrefixBroken != nil {
			s.o.PrefixBroken(e.Cause)
		}
	case decision.RunEnded:
		s.o.RunEnded(s.key, e.Entry)
	case decision.Count:
		s.o.Metrics.Count(e)
	case decision.Log:
		s.line(e)
	case decision.SetTimer, decision.RunCommand, decision.Hibernate, decision.ForgetAll, decision.Resend: // the shell carries these out itself
	}
}

// log returns the logger of the chat, which few chats need.
func (s *shell) log() *slog.Logger {
	return s.o.Logger.With("component", "chat", "chat_key", string(s.key))
}

// line writes a planned line to the log.
func (s *shell) line(e decision.Log) {
	if ctx := context.Background(); s.o.Logger.Enabled(ctx, e.Level) {
		r := slog.NewRecord(time.Now(), e.Level, e.Msg, 0)
		r.Add(e.Args...)
		_ = s.log().Handler().Handle(ctx, r) // a failure to log cannot be logged
	}
}

// send sends a message, unless the receiver no longer exists. If asks is set, the answer goes to the chat.
func send(ac actor.Context, to *actor.PID, msg any, asks bool) {
	switch {
	case to == nil:
	case asks:
		ac.Request(to, msg)
	default:
		ac.Send(to, msg)
	}
}

func (s *shell) start(ac actor.Context, e decision.Start) {
	pid, err := ac.SpawnNamed(s.props(e.Child), e.Name)
	if err != nil { // Unreachable: the name is new
		s.log().Error("a child of the chat could not be started", "name", e.Name, "error", err)
		return
	}
	decision.Put(&s.children, e.Name, pid)
	ac.Request(pid, e.Msg)
}

func (s *shell) props(child decision.Child) *actor.Props {
	switch child {
	case decision.CompactionChild:
		return s.o.Compaction()
	case decision.MemoryChild:
		return s.o.Memory()
	default:
		return s.o.Run(s.memo)
	}
}

func (s *shell) fetch(e decision.FetchFiles) {
	ctx, cancel := context.WithTimeout(context.Background(), fetchDeadline)
	decision.Put(&s.fetches, e.N, cancel)
	key, turn, n, fetch, log := s.key, e.Turn, e.N, s.o.Fetch, s.log()
	s.home.Go(func() any {
		defer cancel()
		return decision.Fetched{TurnID: turn.ID, N: n, Parts: missing(fetch(ctx, key, turn), fileLate)}
	}, func(p pipe.Panicked) any {
		log.Error("fetching files panicked; the model is told that they are missing", "panic", p.Error(), "stack", p.Stack)
		return decision.Fetched{TurnID: turn.ID, N: n, Parts: missing(turn.Parts, fileFault)}
	})
}

// missing adds a reason to every file that could not be fetched.
func missing(parts []uimessage.Part, why string) []uimessage.Part {
	parts = slices.Clone(parts)
	for i, p := range parts {
		if f, ok := platform.FileOf(p); ok && f.Unfetched() {
			f.Failed = why
			parts[i] = f.Part()
		}
	}
	return parts
}

func (s *shell) gather(e decision.GatherRequests) {
	key, ask := s.key, s.o.Gather
	s.home.Go(func() any {
		ctx, cancel := context.WithTimeout(context.Background(), requests.GatherWait*3/4)
		defer cancel()
		return decision.Gathered{ID: e.ID, Others: ask(ctx, key, e.Person), Done: true}
	}, func(pipe.Panicked) any { return decision.Gathered{ID: e.ID, Done: true} })
}

// refOf returns the reference by which a chat knows an actor.
func refOf(pid *actor.PID) decision.Ref {
	if pid == nil {
		return nil
	}
	return pid
}

// pidOf returns the actor of a reference, or nil.
func pidOf(ref decision.Ref) *actor.PID {
	pid, _ := ref.(*actor.PID)
	return pid
}
