package errand

import (
	"context"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

// Question is one request to the model about a chat. What people wrote is material in a user
// message, never a part of the instructions.
type Question struct {
	ID           string
	Instructions string // the system text
	Guidance     string // the operator's addition to it; may be empty
	Material     string
	MaxTokens    int    // of the answer
	Whole        bool   // an answer that became too long is of no use
	Model        string // see [model.Request]
	Payer        model.Payer
}

// Request is the question as the model receives it.
func (q Question) Request() model.Request {
	system := q.Instructions
	if guidance := strings.TrimSpace(q.Guidance); guidance != "" {
		system += "\n\nWhat the operator wants to be remembered:\n" + guidance
	}
	return model.Request{
		ID: q.ID, Model: q.Model, System: system, MaxOutputTokens: q.MaxTokens, Payer: q.Payer,
		Messages: []modelmessage.Message{{
			Role: modelmessage.RoleUser, Parts: []modelmessage.Part{modelmessage.Text{Text: q.Material}},
		}},
	}
}

// moreRoom is how many times MaxTokens a question gets whose first answer became too long.
const moreRoom = 4

// Ask reads an answer to its end. It returns the text and the unified finish reason, which is empty
// if the answer was cut. One that became too long is asked for once more, with more room, if it must
// be whole or has no word, because many models count their thinking as a part of it.
func Ask(ctx context.Context, m model.Model, q Question) (text, finish string, err error) {
	text, finish, err = read(ctx, m, q)
	if err == nil && finish == "length" && (q.Whole || text == "") {
		q.MaxTokens *= moreRoom
		text, finish, err = read(ctx, m, q)
	}
	return text, finish, err
}

func read(ctx context.Context, m model.Model, q Question) (text, finish string, err error) {
	var b strings.Builder
	for ev, err := range m.Stream(ctx, q.Request()) {
		switch {
		case err != nil:
			return "", "", err
		case ev.Kind == model.EventTextDelta:
			b.WriteString(ev.Delta)
		case ev.Kind == model.EventFinish:
			finish = ev.Finish.Unified
		}
	}
	return strings.TrimSpace(b.String()), finish, nil
}
