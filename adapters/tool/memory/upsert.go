// Package memory has the tools memory_upsert and memory_search. The first changes what the model reads in later runs,
// so every call needs approval. The second reads only the memories of its own chat, of the project and of the asker;
// with a [Meaning] it also finds texts with the same meaning in other words.
package memory

import (
	"context"
	"embed"
	"fmt"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/memories"
)

// The names of the tools.
const (
	UpsertName = "memory_upsert"
	SearchName = "memory_search"
)

//go:embed *.md *.schema.json
var docs embed.FS

// Options configure the tools. All but Meaning are required.
type Options struct {
	Store persistence.MemoryStore
	Zone  *time.Location // of the dates
	// Meaning lets searches compare meanings; without it they compare words only.
	Meaning *Meaning
}

// Upsert is the tool memory_upsert.
type Upsert struct {
	tool.Described

	opts Options
}

// NewUpsert makes the tool. A known fact is not written again, so a call may be repeated.
func NewUpsert(o Options) *Upsert {
	return &Upsert{tool.DescribedBy(docs, "upsert", &tool.Spec{
		Name: UpsertName, Title: "Remember", Asks: true, Ordered: true, Repeatable: true, Deadline: 20 * time.Second,
	}), o}
}

// target is what a call asks to remember.
type target struct {
	Scope, Text, UserID string
	place               memories.Place
}

func targetOf(call tool.Call) (target, error) {
	var in target
	if err := call.Read(&in); err != nil {
		return in, err
	}
	if in.Text = memories.FactText(in.Text); in.Text == "" {
		return in, fmt.Errorf("%w: /text: there is nothing to remember", tool.ErrInput)
	}
	place, err := placeOf(call.Run, in.Scope, in.UserID)
	in.place = place
	return in, err
}

// Explain implements [tool.Explainer].
func (u *Upsert) Explain(call tool.Call) (tool.Explanation, error) {
	in, err := targetOf(call)
	if err != nil {
		return tool.Explanation{}, err
	}
	if in.UserID == call.Run.Asker.ID {
		in.UserID = ""
	}
	e, err := tool.Describe(UpsertName, struct{ Scope, Other string }{in.Scope, in.UserID})
	e.Exact = in.Text
	return e, err
}

// Invoke implements [tool.Tool]. The fact's source is the turn that contains the call.
func (u *Upsert) Invoke(ctx context.Context, call tool.Call) (tool.Result, error) {
	in, err := targetOf(call)
	if err != nil {
		return tool.Result{}, err
	}
	fact := memories.Fact{At: time.Now().In(u.opts.Zone), Text: in.Text, Sources: []string{call.Run.MessageID}}
	n, err := u.opts.Store.AddMemory(ctx, in.place, fact)
	if err != nil {
		return tool.Result{}, fmt.Errorf("remember: %w", err)
	}
	return tool.Answer(struct {
		Remembered string `json:"remembered"`
		Scope      string `json:"scope"`
		Known      bool   `json:"knownAlready,omitempty"`
	}{in.Text, in.Scope, n == 0}, in.Text)
}

// placeOf is the memory for a scope. In a group the asker need not be the author of the last message, so the person
// must be named.
func placeOf(run tool.Run, scope, userID string) (memories.Place, error) {
	switch {
	case scope == "chat":
		return memories.Place{Chat: run.ChatKey}, nil
	case scope == "project":
		return memories.Place{}, nil
	case run.Asker.ID == "" || run.Asker.Platform == "":
		return memories.Place{}, fmt.Errorf("%w: /scope: people have no ids here; use another scope", tool.ErrInput)
	case run.Group && userID == "":
		return memories.Place{}, fmt.Errorf("%w: /userId: several people write here; name the one that the fact is about", tool.ErrInput)
	case !run.Group && userID != "" && userID != run.Asker.ID:
		return memories.Place{}, fmt.Errorf("%w: /userId: this is not the person who wrote; leave it out", tool.ErrInput)
	case userID == "":
		userID = run.Asker.ID
	}
	return memories.Place{User: run.Asker.Platform + "-" + userID}, nil
}
