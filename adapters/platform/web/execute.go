package web

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/request"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/respond"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// executeRequest is the body of POST /api/execute.
type executeRequest struct {
	Instructions string `json:"instructions"`
	ChatID       string `json:"chatId"`
	UserID       string `json:"userId"`
	ActorID      string `json:"actorId"` // an older name of userId
	MessageID    string `json:"messageId"`
}

// executeResult is the response of POST /api/execute. Success means that the run ended without a
// failure; State distinguishes an answer from a run that waits for a decision.
type executeResult struct {
	outcome
	Success   bool               `json:"success"`
	Output    string             `json:"output"`
	Error     string             `json:"error,omitempty"`
	ToolCalls []executeCall      `json:"toolCalls"`
	Message   *uimessage.Message `json:"assistantMessage,omitempty"`

	decided bool // Message is what followed a decision
}

type executeCall struct {
	Tool   string          `json:"tool"`
	Input  json.RawMessage `json:"input,omitempty"`
	Output json.RawMessage `json:"output,omitempty"`
}

// execute serves POST /api/execute: one turn of an api chat, and its answer once the run has ended.
// A repeated messageId (or Idempotency-Key) returns the first result; other words with it are refused. Disconnecting does not stop
// the run; a request with the same id later returns its result.
func (p *Platform) execute(w http.ResponseWriter, r *http.Request) *respond.Problem {
	if value(p.opts.APIToken) == "" {
		return respond.Refused(http.StatusNotFound, "no_route", "The API is off. It needs a token in adapters.api.token.")
	}
	in, refusal := p.executeInbound(w, r)
	if refusal != nil {
		return refusal
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	result, refusal := p.executeCommand(ctx, &in)
	if result == nil && refusal == nil {
		result, refusal = p.run(ctx, in)
	}
	if refusal != nil {
		return refusal
	}
	if result.State == turnFailed && respond.ReadsChinese(r) {
		result.Error = p.failureText(result.Reason, true)
	}
	_ = http.NewResponseController(w).SetWriteDeadline(p.writeDeadline())
	respond.JSON(w, http.StatusOK, result)
	return nil
}

func (p *Platform) executeInbound(w http.ResponseWriter, r *http.Request) (platform.Inbound, *respond.Problem) {
	body, refusal := readJSON(w, r)
	if refusal != nil {
		return platform.Inbound{}, refusal
	}
	var req executeRequest
	if err := json.Unmarshal(body, &req); err != nil {
		return platform.Inbound{}, respond.BadRequest("bad_json",
			"The body is {instructions, chatId?, userId?, messageId?}, all of them strings.")
	}
	if strings.TrimSpace(req.Instructions) == "" {
		return platform.Inbound{}, respond.BadRequest("empty", "The instructions are empty.")
	}
	req.ChatID = cmp.Or(req.ChatID, "default")
	key, refusal := newKey(apiName, req.ChatID)
	if refusal != nil {
		return platform.Inbound{}, refusal
	}
	ingress, refusal := request.KeyOf(r)
	if refusal != nil {
		return platform.Inbound{}, refusal
	}
	ingress = strings.TrimPrefix(ingress, request.KeyPrefix) // a messageId has the same meaning here
	id := cmp.Or(req.MessageID, ingress, request.NewID("m-"))
	if refusal := request.BadMessageID(id); refusal != nil {
		return platform.Inbound{}, refusal
	}
	in := p.inbound(key, req.ChatID)
	in.Chat.Type = apiName
	in.Sender = platform.Person{ID: cmp.Or(req.UserID, req.ActorID, apiName)}
	if len(in.Sender.ID) > maxChatID || request.HasControl(in.Sender.ID) {
		return platform.Inbound{}, respond.BadRequest("bad_user_id", "A user id is at most 256 bytes of text without control characters.")
	}
	in.IngressID, in.MessageID, in.Text = cmp.Or(ingress, id), id, req.Instructions
	return in, nil
}

// run hands the turn over and waits until its outcome is known.
func (p *Platform) run(ctx context.Context, in platform.Inbound) (*executeResult, *respond.Problem) {
	frames, err := p.live.Watch(ctx, in.ChatKey)
	if err != nil {
		return nil, p.problem(ctx, in.ChatKey, "watch", err)
	}
	turn, _, refusal := p.accept(ctx, in)
	if refusal != nil {
		return nil, refusal
	}
	return p.await(ctx, in.ChatKey, frames, turn)
}

// watchAgain pauses briefly and watches again.
func (p *Platform) watchAgain(ctx context.Context, key messages.ChatKey) (<-chan platform.Frame, error) {
	breath := time.NewTimer(rewatchPause)
	defer breath.Stop()
	select {
	case <-breath.C:
	case <-ctx.Done():
	case <-p.closing:
	}
	frames, err := p.live.Watch(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("watch again: %w", err)
	}
	return frames, nil
}

const rewatchPause = 50 * time.Millisecond

// awaitFate waits for the frame that may have settled the turn. open is false if the watch ended.
// The result is set if the turn ended without a message.
func (p *Platform) awaitFate(ctx context.Context, frames <-chan platform.Frame, turn string) (_ *executeResult, open bool) {
	look := time.NewTicker(p.opts.Heartbeat)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, false
		case <-look.C:
			return nil, true // check the history: the turn may have ended before the watch began
		case <-p.closing:
			return nil, false
		case fr, ok := <-frames:
			switch {
			case !ok:
				return nil, false
			case fr.Kind == platform.FrameSettled && slices.Contains(fr.Settled, turn):
				return withoutAnswer(), true
			case fr.Kind == platform.FrameEnd && (fr.Last || slices.Contains(fr.Settled, turn)):
				return nil, true
			}
		}
	}
}

func withoutAnswer() *executeResult {
	return &executeResult{outcome: outcome{State: turnFailed, Reason: "stopped"}, Error: "The turn ended without an answer.", ToolCalls: []executeCall{}}
}

// resultNow returns the result of a turn whose outcome is in the history, or nil.
func (p *Platform) resultNow(ctx context.Context, key messages.ChatKey, turn string) (*executeResult, *respond.Problem) {
	view, refusal := p.look(ctx, key)
	if refusal != nil {
		return nil, refusal
	}
	if result, err := p.resultOf(key, view, turn); err != nil || result != nil {
		if err != nil {
			return nil, p.problem(ctx, key, "read result", err)
		}
		return result, nil
	}
	known := request.Index(view.Messages, turn) >= 0
	if !known {
		if result, decided := p.resultOfDecision(key, view, turn); decided {
			return result, nil
		}
	}
	if !request.IsBusy(view) && !known {
		return nil, respond.Refused(http.StatusGone, "compacted", "The result of this messageId is no longer in the history.")
	}
	return nil, nil //nolint:nilnil // nil is the answer: not yet.
}

// resultOf finds the assistant turn that settles the user turn, and collects the calls that its run
// made for it.
func (p *Platform) resultOf(key messages.ChatKey, view platform.ChatView, turn string) (*executeResult, error) {
	at := max(request.Index(view.Messages, turn), 0)
	for i := at; i < len(view.Messages); i++ {
		m := view.Messages[i]
		if m.Role != uimessage.RoleAssistant || view.Running && i == len(view.Messages)-1 {
			continue
		}
		meta, err := uimessage.DecodeMetadata(m.Metadata)
		if err != nil {
			return nil, fmt.Errorf("metadata of %s: %w", m.ID, err)
		}
		fate := slices.IndexFunc(meta.Fates, func(f uimessage.FateRecord) bool { return f.ID == turn })
		if fate < 0 {
			continue
		}
		result := newResult(view.Messages[at:i+1], meta)
		result.outcome = outcomeOf(key, view.Messages[at:i+1], meta, meta.Fates[fate])
		if result.asked.Turn.ID != "" {
			return p.resultAfter(key, view, result.asked), nil
		}
		p.conclude(result, meta)
		return result, nil
	}
	return nil, nil //nolint:nilnil // nil is the answer: not yet.
}

// conclude completes the result of a run that has ended.
func (p *Platform) conclude(result *executeResult, meta uimessage.Metadata) {
	if result.Success = result.State != turnFailed; !result.Success {
		result.Error = p.failureText(result.Reason, false)
	} else if words := meta.Notice(); words != "" { // the answer is incomplete
		result.Output = strings.TrimSpace(result.Output + "\n\n" + words)
	}
}

func newResult(list []uimessage.Message, meta uimessage.Metadata) *executeResult {
	last := list[len(list)-1]
	out := &executeResult{ToolCalls: []executeCall{}, Message: &last}
	sent := ""
	for _, m := range list {
		if m.Role != uimessage.RoleAssistant || !sameRun(m, meta.RunID) {
			continue
		}
		for _, part := range m.Parts {
			if t, ok := part.(uimessage.Tool); ok {
				out.ToolCalls = append(out.ToolCalls, executeCall{Tool: t.Name, Input: t.Input, Output: outputOf(t)})
				sent = cmp.Or(sentText(t), sent)
			}
		}
	}
	out.Output = cmp.Or(textOf(last), sent)
	return out
}

func sameRun(m uimessage.Message, run string) bool {
	meta, err := uimessage.DecodeMetadata(m.Metadata)
	return err == nil && meta.RunID == run
}

func outputOf(t uimessage.Tool) json.RawMessage {
	if t.ErrorText.Set {
		text, err := json.Marshal(map[string]string{"error": t.ErrorText.Value})
		if err == nil {
			return text
		}
	}
	return t.Output
}

// sentText returns the text of a call of chat_send.
func sentText(t uimessage.Tool) string {
	if t.Name != "chat_send" || t.State != uimessage.ToolOutputAvailable {
		return ""
	}
	var in struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(t.Input, &in) != nil {
		return ""
	}
	return in.Text
}

func textOf(m uimessage.Message) string {
	var texts []string
	for _, part := range m.Parts {
		if t, ok := part.(uimessage.Text); ok && t.Text != "" {
			texts = append(texts, t.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}
