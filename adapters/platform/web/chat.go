package web

import (
	"cmp"
	"context"
	"errors"
	"hash/maphash"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/follow"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/request"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/respond"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/messages/uistream"
)

// chat serves POST /api/chat. The response is the assistant message that first sees the turn, as a
// UI message stream. If the client prefers `respond-async`, it is 202 as soon as the turn is
// durable.
func (p *Platform) chat(w http.ResponseWriter, r *http.Request) *respond.Problem {
	body, refusal := readJSON(w, r)
	if refusal != nil {
		return refusal
	}
	req, refusal := request.ParseChat(body)
	if refusal == nil {
		refusal = p.tooLong(req)
	}
	if refusal == nil {
		req.Ingress, refusal = request.KeyOf(r)
	}
	if refusal != nil {
		return refusal
	}
	key, refusal := p.chatKey(req.ID)
	if refusal != nil {
		return refusal
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	// Watch before sending, so that no frame of the answer is missed.
	frames, err := p.live.Watch(ctx, key)
	if err != nil {
		return p.problem(r.Context(), key, "watch", err)
	}
	t, refusal := p.take(ctx, key, req)
	if refusal != nil {
		return refusal
	}
	if strings.Contains(r.Header.Get("Prefer"), "respond-async") {
		w.Header().Set("Preference-Applied", "respond-async")
		respond.JSON(w, http.StatusAccepted, t.wire())
		return nil
	}
	if refusal := p.tooLate(ctx, key, t, req.Last); refusal != nil {
		return refusal
	}
	s := p.openStream(w, readerOfChat(r, req.ID))
	p.metrics.streams.Inc()
	defer p.metrics.streams.Dec()
	switch {
	case t.said != nil:
		err = s.say(*t.said)
	case t.turn == "":
		err = p.continued(ctx, s, key, frames, t)
	default:
		err = p.answer(ctx, s, key, frames, t.turn)
	}
	p.finish(r, key, s, err)
	return nil
}

// accepted is the outcome of a request.
type accepted struct {
	turn     string // to wait for, if any
	nothing  string // without a turn: id of the message that has nothing new
	outcomes []messages.DecisionOutcome
	late     bool
	said     *hostAnswer // the host's answer; nil if the request went to the chat
	// continued follows the message that the decisions continue, if any.
	continued *follow.Follower
}

// wire is the response to a client that does not wait.
func (t accepted) wire() any {
	type decision struct {
		ID   string                 `json:"id"`
		Is   messages.DecisionState `json:"is"`
		Late bool                   `json:"late,omitempty"`
	}
	out := struct {
		TurnID    string     `json:"turnId"`
		Decisions []decision `json:"decisions,omitempty"`
		Answer    string     `json:"answer,omitempty"`
	}{TurnID: t.turn}
	if t.said != nil {
		out.Answer = t.said.text
	}
	for _, o := range t.outcomes {
		out.Decisions = append(out.Decisions, decision{o.ApprovalID, o.Is, o.Late})
	}
	return out
}

// tooLate refuses decisions whose result would never appear in the client's message.
func (p *Platform) tooLate(ctx context.Context, key messages.ChatKey, t accepted, client uimessage.Message) *respond.Problem {
	refusal := stale(t.outcomes)
	if len(t.outcomes) == 0 || refusal == nil {
		return nil
	}
	view, err := p.live.History(ctx, key)
	if err == nil && settles(view, client) {
		return nil
	}
	return refusal
}

// nothing streams only the fact that the message with this id is the last one.
func (s *stream) nothing(id string) error {
	return s.end(uistream.Start{MessageID: uimessage.Some(id)}, uistream.Finish{Reason: uistream.FinishStop})
}

// take carries out the request.
func (p *Platform) take(ctx context.Context, key messages.ChatKey, req request.Chat) (accepted, *respond.Problem) {
	if cmd, ok := p.commandIn(req); ok {
		view, refusal := p.look(ctx, key)
		if refusal != nil {
			return accepted{}, refusal
		}
		if !knows(view, req) {
			return p.obey(ctx, key, req, cmd)
		}
	}
	pl, refusal := p.plan(ctx, key, req)
	if refusal != nil {
		return accepted{}, refusal
	}
	if pl.Do == request.Edit || pl.Do == request.Again {
		lock := &p.rewinds[maphash.String(p.seed, string(key))%uint64(len(p.rewinds))]
		lock.Lock()
		defer lock.Unlock()
		if pl, refusal = p.plan(ctx, key, req); refusal != nil { // another window may have sent the same
			return accepted{}, refusal
		}
	}
	switch pl.Do {
	case request.Nothing:
		return accepted{nothing: pl.Last}, nil
	case request.Repeat:
		p.cuts.takeTurn(key, pl.Turn)
		return accepted{turn: pl.Turn}, nil
	case request.Approvals:
		return p.decide(ctx, key, pl, req.Last)
	case request.New, request.Edit, request.Again:
	}
	if p.opts.Files != nil {
		if pl.Words.Parts, refusal = p.keepFiles(ctx, key, req.ID, pl.Words.Parts); refusal != nil {
			return accepted{}, refusal
		}
	}
	if pl.Rewind {
		if err := p.live.Rewind(ctx, key, pl.Keep); err != nil {
			return accepted{}, p.problem(ctx, key, "rewind", err)
		}
	}
	in := p.inbound(key, req.ID)
	pl.Fill(&in, req.Ingress)
	in.RequestID = request.MessageRequestID(in)
	turn, answer, refusal := p.accept(ctx, in)
	if answer != "" {
		return accepted{turn: turn, said: &hostAnswer{id: "h:" + in.IngressID, text: answer}}, refusal
	}
	return accepted{turn: turn}, refusal
}

// plan loads the chat and decides what the request means.
func (p *Platform) plan(ctx context.Context, key messages.ChatKey, req request.Chat) (request.Plan, *respond.Problem) {
	view, refusal := p.look(ctx, key)
	if refusal != nil {
		return request.Plan{}, refusal
	}
	return request.Decide(req, view)
}

// accept hands one inbound over and returns its turn, or the host's answer if it was for the host
// alone.
func (p *Platform) accept(ctx context.Context, in platform.Inbound) (turn, answer string, refusal *respond.Problem) {
	res, refusal := p.handOver(ctx, in)
	if refusal != nil || !res.Duplicate {
		return cmp.Or(res.TurnID, in.TurnID), res.Answer, refusal
	}
	turn, decided, refusal := p.repeated(ctx, in)
	if decided {
		return in.TurnID, res.Answer, nil
	}
	return cmp.Or(turn, res.TurnID, in.TurnID), "", refusal
}

// handOver hands one inbound to the core.
func (p *Platform) handOver(ctx context.Context, in platform.Inbound) (platform.Result, *respond.Problem) {
	results := p.live.Accept(ctx, []platform.Inbound{in})
	if len(results) != 1 {
		return platform.Result{}, p.problem(ctx, in.ChatKey, "accept", errors.New("no result"))
	}
	res := results[0]
	switch {
	case res.Err != nil:
		return res, p.problem(ctx, in.ChatKey, "accept", res.Err)
	case res.Declined != "":
		return res, respond.Declined(res.Declined)
	}
	return res, nil
}

// look returns the chat's view; a chat without messages gives an empty one.
func (p *Platform) look(ctx context.Context, key messages.ChatKey) (platform.ChatView, *respond.Problem) {
	view, err := p.live.History(ctx, key)
	if err != nil && !errors.Is(err, platform.ErrNotFound) {
		return view, p.problem(ctx, key, "history", err)
	}
	return view, nil
}

// answer streams the message that first sees a turn: from the history if it is complete, else live.
func (p *Platform) answer(ctx context.Context, s *stream, key messages.ChatKey,
	frames <-chan platform.Frame, turn string,
) error {
	view, err := p.live.History(ctx, key)
	if err != nil {
		return errors.Join(errCut, err)
	}
	f := follow.Follower{Turn: turn}
	m, found, done := answerOf(view, turn)
	switch {
	case done:
		return s.whole(m)
	case found:
		f.Message = m.ID
	case request.Index(view.Messages, turn) < 0 && request.Index(view.Waiting, turn) < 0:
		return s.unseen()
	}
	return p.followUp(ctx, s, key, frames, &f)
}

// followUp streams until the follower is finished.
func (p *Platform) followUp(ctx context.Context, s *stream, key messages.ChatKey,
	frames <-chan platform.Frame, f *follow.Follower,
) error {
	how := follow.Continue
	err := p.pump(ctx, s, frames, taker{
		frame: func(fr platform.Frame) (bool, error) {
			var chunks []uistream.Chunk
			chunks, how = f.Frame(fr)
			return how != follow.Continue, s.chunks(chunks)
		},
		silent: func() (bool, error) {
			if f.Started || p.stillOpen(ctx, key, f.Turn) {
				return false, nil
			}
			how = follow.Settled // it began and ended before the watch started
			return true, nil
		},
	})
	if err != nil || how == follow.Void || f.Untrue {
		p.cuts.note(key, f.Message, f.Turn, time.Now())
	}
	switch {
	case err != nil:
		return err
	case how == follow.Void:
		return s.anew()
	case how == follow.Settled && f.Base != nil:
		return p.settledGain(ctx, s, key, f)
	case how == follow.Settled:
		return p.settledAnswer(ctx, s, key, f.Turn)
	}
	return s.text(uistream.Done)
}

// stillOpen reports whether the message that a turn waits for may still begin; without a turn, any
// message.
func (p *Platform) stillOpen(ctx context.Context, key messages.ChatKey, turn string) bool {
	view, err := p.live.History(ctx, key)
	if err != nil {
		return true // check again at the next silence
	}
	_, _, done := answerOf(view, turn)
	return request.IsBusy(view) && !done
}

// settledAnswer ends the stream of a turn whose message was not seen to begin.
func (p *Platform) settledAnswer(ctx context.Context, s *stream, key messages.ChatKey, turn string) error {
	if turn == "" {
		return s.text(uistream.Done)
	}
	view, err := p.live.History(ctx, key)
	if err != nil {
		return errors.Join(errCut, err)
	}
	if m, _, done := answerOf(view, turn); done {
		return s.whole(m)
	}
	return s.unseen()
}

// settledGain ends the stream of a continued message that is already complete.
func (p *Platform) settledGain(ctx context.Context, s *stream, key messages.ChatKey, f *follow.Follower) error {
	view, err := p.live.History(ctx, key)
	if err != nil {
		return errors.Join(errCut, err)
	}
	i := request.Index(view.Messages, f.Message)
	if i < 0 {
		return s.nothing(f.Message)
	}
	return s.end(f.Whole(view.Messages[i])...)
}

// whole sends a complete message.
func (s *stream) whole(m uimessage.Message) error { return s.end(new(follow.Follower).Whole(m)...) }

// unseen ends the stream of a turn that got no answer, for example because it was stopped.
func (s *stream) unseen() error { return s.end(uistream.Abort{}) }

// finish ends a stream normally, or cuts it after an error.
func (p *Platform) finish(r *http.Request, key messages.ChatKey, s *stream, err error) {
	if err == nil {
		return
	}
	s.cut()
	if r.Context().Err() != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return // the reader disconnected, which is not logged
	}
	p.metrics.dropped.Inc()
	p.opts.Logger.DebugContext(r.Context(), "a stream was cut",
		slog.String("chat_key", string(key)), slog.String("error", err.Error()))
}

// problem logs an error of the core and returns what people see of it.
func (p *Platform) problem(ctx context.Context, key messages.ChatKey, what string, err error) *respond.Problem {
	refusal := respond.Of(err)
	if refusal.Status >= http.StatusInternalServerError && ctx.Err() == nil {
		p.opts.Logger.WarnContext(ctx, "a request was refused", slog.String("chat_key", string(key)),
			slog.String("operation", what), slog.String("error", err.Error()))
	}
	return refusal
}
