package web

import (
	"slices"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web/internal/respond"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

// action is what a request asks of the host, given its history.
type action int

const (
	actNew        action = iota // take a new turn
	actRepeat                   // the turn is known: repeat its answer, or wait for it
	actNothing                  // nothing is new: show the last message
	actEdit                     // cut from a user turn on and replace it by one with other text
	actRegenerate               // cut after a user turn and answer it again
	actDecide                   // answer requests for approval
)

// plan is the interpretation of a request.
type plan struct {
	do   action
	turn string // id of the user turn it is about
	// keep is the last id that remains, for an edit and a regeneration; empty means that nothing
	// remains.
	keep string
	// rewind means that something has to be cut.
	rewind bool
	words  words
	at     int // how many parts of the words precede their text
	// known is the stored turn of a regeneration, or the message of decisions.
	known uimessage.Message
	last  string // id of the message to show when nothing is new in it
	say   []messages.Decision
}

// decide is pure: the same request and view always give the same plan.
func decide(req chatRequest, view platform.ChatView) (plan, *respond.Problem) {
	if known, ok := byIngress(view, req.Ingress); ok {
		return decideRepeated(req, known)
	}
	if req.Trigger == triggerRegenerate {
		return decideRegenerate(req, view)
	}
	if req.Last.Role == uimessage.RoleAssistant {
		return planDecisions(req, view)
	}
	said, refusal := wordsOf(req.ID, req.Last)
	if refusal != nil {
		return plan{}, refusal
	}
	id := req.Last.ID
	if req.MessageID != "" && req.MessageID != id {
		if id != "" {
			return plan{}, respond.BadRequest("bad_edit", "An edited message keeps its id.")
		}
		id = req.MessageID
	}
	if id == "" && req.Ingress != "" {
		id = keyedID(req.Ingress)
	}
	if refusal := badMessageID(id); refusal != nil {
		return plan{}, refusal
	}
	if i := index(view.Waiting, id); i >= 0 {
		if sameWords(view.Waiting[i], said) {
			return plan{do: actRepeat, turn: id}, nil
		}
		return plan{}, respond.Busy()
	}
	i := index(view.Messages, id)
	switch {
	case id == "" || i < 0 && req.MessageID == "":
		return plan{do: actNew, turn: id, words: said, at: textAt(req.Last.Parts)}, nil
	case i < 0:
		return plan{}, respond.NotFound()
	case view.Messages[i].Role != uimessage.RoleUser:
		return plan{}, respond.Refused(409, "id_taken", "This id belongs to another message.")
	case sameWords(view.Messages[i], said):
		if !isBusy(view) && i == len(view.Messages)-1 {
			// No run followed an earlier rewind: answer the turn now.
			return plan{do: actRegenerate, turn: id, keep: idBefore(view.Messages, i), rewind: true, known: view.Messages[i]}, nil
		}
		return plan{do: actRepeat, turn: id}, nil
	case isBusy(view):
		return plan{}, respond.Busy()
	}
	return plan{do: actEdit, turn: id, keep: idBefore(view.Messages, i), rewind: true, words: said, at: textAt(req.Last.Parts)}, nil
}

// badMessageID returns why an id of a message cannot be used, or nil.
func badMessageID(id string) *respond.Problem {
	if len(id) > maxMessageID || hasControl(id) {
		return respond.BadRequest("bad_message_id", "A message id is at most 256 bytes of text without control characters.")
	}
	return nil
}

const maxMessageID = 256

// decideRepeated plans a request that was made before, recognized by its key.
func decideRepeated(req chatRequest, known uimessage.Message) (plan, *respond.Problem) {
	if req.Trigger != triggerRegenerate {
		said, refusal := wordsOf(req.ID, req.Last)
		if refusal != nil {
			return plan{}, refusal
		}
		if req.Last.Role != uimessage.RoleUser || !sameWords(known, said) {
			return plan{}, keyReused()
		}
	}
	return plan{do: actRepeat, turn: known.ID}, nil
}

// decideRegenerate finds the user turn to answer again: that of the named message, or else of the
// client's last message, or else the last one.
func decideRegenerate(req chatRequest, view platform.ChatView) (plan, *respond.Problem) {
	if isBusy(view) {
		return plan{}, respond.Busy()
	}
	if pl, refusal, changed := decideChanged(req, view); changed {
		return pl, refusal
	}
	at := len(view.Messages) - 1
	if req.MessageID != "" {
		if at = index(view.Messages, req.MessageID); at < 0 {
			return plan{}, respond.NotFound()
		}
	} else if i := index(view.Messages, req.Last.ID); i >= 0 {
		at = i
	}
	for at >= 0 && view.Messages[at].Role != uimessage.RoleUser {
		at--
	}
	if at < 0 {
		return plan{}, respond.NotFound()
	}
	turn := view.Messages[at]
	return plan{
		do: actRegenerate, turn: turn.ID, keep: idBefore(view.Messages, at), rewind: true, known: turn,
	}, nil
}

// decideChanged checks whether a client that asks for another answer shows text that differs from
// the history. If so, the chat is cut at the first difference, and the new text is answered.
// Without a difference, changed is false.
func decideChanged(req chatRequest, view platform.ChatView) (pl plan, refusal *respond.Problem, changed bool) {
	for _, m := range append(slices.Clip(req.Shown), req.Last) {
		i := index(view.Messages, m.ID)
		said, refusal := wordsOf(req.ID, m)
		if i < 0 || refusal != nil || m.Role != uimessage.RoleUser || view.Messages[i].Role != uimessage.RoleUser {
			continue
		}
		// Only the host knows what became of the files of an earlier message.
		if m.ID != req.Last.ID && (!onlyTexts(m) || !onlyTexts(view.Messages[i])) || sameWords(view.Messages[i], said) {
			continue
		}
		return plan{do: actEdit, turn: m.ID, keep: idBefore(view.Messages, i), rewind: true, words: said, at: textAt(m.Parts)}, nil, true
	}
	if req.Last.Role != uimessage.RoleUser || req.Last.ID == "" || index(view.Messages, req.Last.ID) >= 0 {
		return plan{}, nil, false
	}
	said, refusal := wordsOf(req.ID, req.Last)
	if refusal != nil {
		return plan{}, refusal, true
	}
	for _, m := range slices.Backward(req.Shown) {
		if index(view.Messages, m.ID) >= 0 { // the new text replaces what followed m
			return plan{do: actEdit, turn: req.Last.ID, keep: m.ID, rewind: true, words: said, at: textAt(req.Last.Parts)}, nil, true
		}
	}
	return plan{}, respond.NotFound(), true
}

func onlyTexts(m uimessage.Message) bool {
	return !slices.ContainsFunc(m.Parts, func(p uimessage.Part) bool {
		_, ok := p.(uimessage.Text)
		return !ok
	})
}

func isBusy(view platform.ChatView) bool { return view.Running || len(view.Waiting) > 0 }

func index(list []uimessage.Message, id string) int {
	if id == "" {
		return -1
	}
	return slices.IndexFunc(list, func(m uimessage.Message) bool { return m.ID == id })
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

// answerOf finds the message that first saw a turn. done is false while that message is in
// progress.
func answerOf(view platform.ChatView, turn string) (m uimessage.Message, found, done bool) {
	i := index(view.Messages, turn)
	if i < 0 {
		return m, false, false
	}
	for j := i + 1; j < len(view.Messages); j++ {
		if view.Messages[j].Role == uimessage.RoleAssistant {
			return view.Messages[j], true, !view.Running || j < len(view.Messages)-1
		}
	}
	return m, false, false
}
