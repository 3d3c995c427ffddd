package provider

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/internal/protocol"
)

// refusedEfforts are the words for how much to think that a service refused. It is safe for
// concurrent use.
type refusedEfforts struct {
	mu    sync.Mutex
	words []string
}

// add reports whether the word is new.
func (r *refusedEfforts) add(word string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.Contains(r.words, word) {
		return false
	}
	r.words = append(r.words, word)
	return true
}

func (r *refusedEfforts) list() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.words)
}

// refusesEffort recognizes how services say that a model does not think as a request asks, or that it
// does not take the rest of the settings together with it.
func refusesEffort(asked model.Request, err *model.Error) bool {
	words := strings.ToLower(err.Message)
	return asked.Effort != "" && err.Reason == model.ReasonBadRequest && !containsAny(words, "signature", protocol.Thought) &&
		containsAny(words, "effort", "thinking.type", "thinking is not", "thinking: ", "adaptive thinking", "support thinking", "thinking cannot be", "thinking level", "thinking_level",
			"thinking budget", "thinking_budget", "budget_tokens", "'thinking'", "temperature", "top_p", "思考")
}

// loseEffort records that the service refuses a word, until the host ends or gets new settings.
func (e *endpoint) loseEffort(ctx context.Context, word string, failed *model.Error) {
	if e.efforts.add(word) {
		e.log.WarnContext(ctx, "the model refuses the requested thinking effort; from now on its own settings apply instead", "effort", word, "error", failed)
	}
}
