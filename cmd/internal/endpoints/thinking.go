package endpoints

import (
	"slices"

	"github.com/shipmyagent/shipmyagent/adapters/model/provider"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/config/catalog"
)

// off is the word with which people choose that a model does not think; the settings and the services say none.
const off, none = "off", "none"

// effortsOf are the words with which people choose how much a model thinks, least first. They are what the catalog
// knows that it takes; of a model that it does not know, people choose nothing.
func effortsOf(f config.Fallback) (words []string) {
	model, _ := f.Known()
	known := model.Thinking
	api := f.Protocol()
	if known == nil || len(known.Efforts) == 0 && (known.Budget == nil || api != catalog.Messages) {
		return nil
	}
	if api == catalog.Messages && !known.Always || api == catalog.Chat && known.Switch || slices.Contains(known.Efforts, none) {
		words = []string{off}
	}
	for _, e := range efforts {
		if slices.Contains(known.Efforts, e.word) || len(known.Efforts) == 0 && e.common {
			words = append(words, e.word)
		}
	}
	return words
}

// thinkingOf returns how a model thinks on its protocol for a word of the settings or of people.
func thinkingOf(f config.Fallback, word string) (t provider.Thinking) {
	if word == off {
		word = none
	}
	known, _ := f.Known()
	switch api := f.Protocol(); {
	case api == catalog.Messages:
		t = thinking(word, known.Thinking)
		if most := known.MaxOutputTokens; most > 0 { // half of it is left for the answer
			t.Budget = min(t.Budget, most/2)
		}
	case api == catalog.Chat && word == none && known.Thinking != nil && known.Thinking.Switch:
		t.Type = "disabled"
	default:
		t.Effort = word
	}
	return t
}

// efforts are the words of the settings and of people that mean thinking, with the tokens that they
// stand for at models that take a budget.
var efforts = []effort{ //nolint:gochecknoglobals // a table
	{"minimal", 1024, false},
	{"low", 2048, true},
	{"medium", 8192, true},
	{"high", 16384, true},
	{"xhigh", 32768, false},
	{"max", 49152, false},
}

type effort struct {
	word   string
	tokens int
	common bool // people can choose it for models that take a budget
}

// thinking returns how a model thinks on the Messages protocol. What is known of it decides between
// an effort and a budget; a model that does not take the effort gets the nearest one below it, or
// else its least.
func thinking(word string, known *catalog.Thinking) provider.Thinking {
	if word == "" {
		return provider.Thinking{}
	}
	wanted := slices.IndexFunc(efforts, func(e effort) bool { return e.word == word })
	switch {
	case wanted < 0 && known != nil && known.Always:
		return provider.Thinking{}
	case wanted < 0: // none
		return provider.Thinking{Type: "disabled"}
	case known != nil && len(known.Efforts) > 0:
		for i := wanted; i >= 0; i-- {
			if slices.Contains(known.Efforts, efforts[i].word) {
				return provider.Thinking{Type: "adaptive", Effort: efforts[i].word}
			}
		}
		return provider.Thinking{Type: "adaptive", Effort: known.Efforts[0]}
	}
	budget := efforts[wanted].tokens
	if known != nil && known.Budget != nil {
		budget = max(budget, known.Budget.Min)
		if known.Budget.Max > 0 {
			budget = min(budget, known.Budget.Max)
		}
	}
	return provider.Thinking{Type: "enabled", Budget: budget}
}
