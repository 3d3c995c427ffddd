package request

import (
	"cmp"
	"slices"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/respond"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

const (
	maxDecisions = 100
	maxReason    = 1000 // maximum length of a stored reason, in characters
)

// decisionsOf returns the answers to requests for approval in a client's message: ids, yes or no,
// and the reason. The rest of the message is ignored.
func decisionsOf(m uimessage.Message) []messages.Decision {
	var say []messages.Decision
	for _, part := range m.Parts {
		t, ok := part.(uimessage.Tool)
		if !ok || t.State != uimessage.ToolApprovalResponded || t.Approval == nil || !t.Approval.Approved.Set {
			continue
		}
		reason := []rune(t.Approval.Reason.Or(""))
		say = append(say, messages.Decision{
			ApprovalID: t.Approval.ID, Approved: t.Approval.Approved.Value, Reason: string(reason[:min(len(reason), maxReason)]),
		})
	}
	return say
}

// planDecisions plans a request with an assistant message: decisions, or nothing new.
func planDecisions(req Chat, view platform.ChatView) (Plan, *respond.Problem) {
	say := decisionsOf(req.Last)
	switch {
	case len(say) == 0:
		return Plan{Do: Nothing, Last: lastAssistant(view, req.Last.ID)}, nil
	case len(say) > maxDecisions:
		return Plan{}, respond.BadRequest("too_many", "A request decides at most 100 requests for approval.")
	}
	pl := Plan{Do: Approvals, Say: say, Last: req.Last.ID, Known: req.Last}
	if i := Index(view.Messages, req.Last.ID); i >= 0 {
		pl.Known = view.Messages[i]
	}
	return pl, nil
}

// Action is what a request asks of the host, given its history.
type Action int

// The actions.
const (
	New       Action = iota // take a new turn
	Repeat                  // the turn is known: repeat its answer, or wait for it
	Nothing                 // nothing is new: show the last message
	Edit                    // cut from a user turn on and replace it by one with other text
	Again                   // cut after a user turn and answer it again
	Approvals               // answer requests for approval
)

// Plan is the interpretation of a request.
type Plan struct {
	Do   Action
	Turn string // id of the user turn it is about
	// Keep is the last id that remains, for an edit and a regeneration; empty means that nothing
	// remains.
	Keep string
	// Rewind means that something has to be cut.
	Rewind bool
	Words  Words
	// Known is the stored turn of a regeneration, or the message of decisions.
	Known uimessage.Message
	Last  string // id of the message to show when nothing is new in it
	Say   []messages.Decision
}

// Decide is pure: the same request and view always give the same plan.
func Decide(req Chat, view platform.ChatView) (Plan, *respond.Problem) {
	if known, ok := ByIngress(view, req.Ingress); ok {
		return decideRepeated(req, known)
	}
	if req.Trigger == Regenerate {
		return decideRegenerate(req, view)
	}
	if req.Last.Role == uimessage.RoleAssistant {
		return planDecisions(req, view)
	}
	said, refusal := WordsOf(req.ID, req.Last)
	if refusal != nil {
		return Plan{}, refusal
	}
	id := req.Last.ID
	if req.MessageID != "" && req.MessageID != id {
		if id != "" {
			return Plan{}, respond.BadRequest("bad_edit", "An edited message keeps its id.")
		}
		id = req.MessageID
	}
	if id == "" && req.Ingress != "" {
		id = keyedID(req.Ingress)
	}
	if refusal := BadMessageID(id); refusal != nil {
		return Plan{}, refusal
	}
	if i := Index(view.Waiting, id); i >= 0 {
		if SameWords(view.Waiting[i], said) {
			return Plan{Do: Repeat, Turn: id}, nil
		}
		return Plan{}, respond.Busy()
	}
	i := Index(view.Messages, id)
	switch {
	case id == "" || i < 0 && req.MessageID == "":
		return Plan{Do: New, Turn: id, Words: said}, nil
	case i < 0 && !isCut(req, view):
		return Plan{}, respond.NotFound()
	case i < 0:
		return Plan{Do: Edit, Turn: id, Words: said}, nil
	case view.Messages[i].Role != uimessage.RoleUser:
		return Plan{}, respond.Refused(409, "id_taken", "This id belongs to another message.")
	case SameWords(view.Messages[i], said):
		if !IsBusy(view) && i == len(view.Messages)-1 {
			// No run followed an earlier rewind: answer the turn now.
			return Plan{Do: Again, Turn: id, Keep: idBefore(view.Messages, i), Rewind: true, Known: view.Messages[i]}, nil
		}
		return Plan{Do: Repeat, Turn: id}, nil
	case IsBusy(view):
		return Plan{}, respond.Busy()
	}
	return Plan{Do: Edit, Turn: id, Keep: idBefore(view.Messages, i), Rewind: true, Words: said}, nil
}

// decideRepeated plans a request that was made before, recognized by its key.
func decideRepeated(req Chat, known uimessage.Message) (Plan, *respond.Problem) {
	if req.Trigger != Regenerate {
		said, refusal := WordsOf(req.ID, req.Last)
		if refusal != nil {
			return Plan{}, refusal
		}
		if req.Last.Role != uimessage.RoleUser || !SameWords(known, said) {
			return Plan{}, KeyReused()
		}
	}
	return Plan{Do: Repeat, Turn: known.ID}, nil
}

// decideRegenerate finds the user turn to answer again: that of the named message, or else of the
// client's last message, or else the last one.
func decideRegenerate(req Chat, view platform.ChatView) (Plan, *respond.Problem) {
	if IsBusy(view) {
		return Plan{}, respond.Busy()
	}
	if pl, refusal, changed := decideChanged(req, view); changed {
		return pl, refusal
	}
	at := len(view.Messages) - 1
	if req.MessageID != "" {
		if at = Index(view.Messages, req.MessageID); at < 0 {
			return Plan{}, respond.NotFound()
		}
	} else if i := Index(view.Messages, req.Last.ID); i >= 0 {
		at = i
	}
	for at >= 0 && view.Messages[at].Role != uimessage.RoleUser {
		at--
	}
	if at < 0 {
		return Plan{}, respond.NotFound()
	}
	turn := view.Messages[at]
	return Plan{
		Do: Again, Turn: turn.ID, Keep: idBefore(view.Messages, at), Rewind: true, Known: turn,
	}, nil
}

// decideChanged checks whether a client that asks for another answer shows text that differs from
// the history. If so, the chat is cut at the first difference, and the new text is answered.
// Without a difference, changed is false.
func decideChanged(req Chat, view platform.ChatView) (pl Plan, refusal *respond.Problem, changed bool) {
	for _, m := range append(slices.Clip(req.Shown), req.Last) {
		i := Index(view.Messages, m.ID)
		if i < 0 || m.Role != uimessage.RoleUser || view.Messages[i].Role != uimessage.RoleUser {
			continue
		}
		stored := view.Messages[i]
		if m.ID != req.Last.ID && (!onlyTexts(m) || !onlyTexts(stored)) {
			// Only the host knows where it stored the files of an earlier message, so it cannot be replaced.
			if !sameTexts(stored, m) {
				return Plan{}, respond.FilesStay(), true
			}
			continue
		}
		said, refusal := WordsOf(req.ID, m)
		if refusal != nil || SameWords(stored, said) {
			continue
		}
		return Plan{Do: Edit, Turn: m.ID, Keep: idBefore(view.Messages, i), Rewind: true, Words: said}, nil, true
	}
	if req.Last.Role != uimessage.RoleUser || req.Last.ID == "" || Index(view.Messages, req.Last.ID) >= 0 {
		return Plan{}, nil, false
	}
	said, refusal := WordsOf(req.ID, req.Last)
	if refusal != nil {
		return Plan{}, refusal, true
	}
	for _, m := range slices.Backward(req.Shown) {
		if Index(view.Messages, m.ID) >= 0 { // the new text replaces what followed m
			return Plan{Do: Edit, Turn: req.Last.ID, Keep: m.ID, Rewind: true, Words: said}, nil, true
		}
	}
	if isCut(req, view) {
		return Plan{Do: Edit, Turn: req.Last.ID, Words: said}, nil, true
	}
	return Plan{}, respond.NotFound(), true
}

// isCut reports whether the history ends with what the client shows before its last message. An edit or a regeneration
// cuts it there first, and the host may have been killed before it took the message.
func isCut(req Chat, view platform.ChatView) bool {
	if len(view.Messages) == 0 || len(req.Shown) == 0 {
		return len(view.Messages) == 0 && len(req.Shown) == 0 && !IsBusy(view)
	}
	return view.Messages[len(view.Messages)-1].ID == req.Shown[len(req.Shown)-1].ID && !IsBusy(view)
}

func idBefore(list []uimessage.Message, i int) string {
	if i == 0 {
		return ""
	}
	return list[i-1].ID
}

// lastAssistant returns the id to show when nothing is new: the host's last answer, or otherwise if
// there is none.
func lastAssistant(view platform.ChatView, otherwise string) string {
	for _, m := range slices.Backward(view.Messages) {
		if m.Role == uimessage.RoleAssistant {
			return m.ID
		}
	}
	return otherwise
}

// Fill completes the inbound of a plan. An edit and a regenerated answer keep the turn's id; they
// are distinguished by a new ingress id, or by the client's key.
func (pl Plan) Fill(in *platform.Inbound, ingress string) {
	in.TurnID = pl.Turn
	in.Text, in.Parts, in.TextAt = pl.Words.Text, pl.Words.Parts, pl.Words.At
	switch pl.Do {
	case New:
		if in.TurnID == "" {
			in.TurnID = NewID("m-")
		}
		in.IngressID = in.TurnID
	case Again:
		in.Text, in.Parts, in.TextAt = split(pl.Known.Parts)
		in.IngressID = NewID(pl.Turn + "~")
	case Edit, Repeat, Nothing, Approvals:
		in.IngressID = NewID(pl.Turn + "~")
	}
	in.IngressID = cmp.Or(ingress, in.IngressID)
	in.MessageID = in.TurnID
}
