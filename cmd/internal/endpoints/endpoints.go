// Package endpoints makes the addresses of models from the settings.
package endpoints

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/demo"
	"github.com/shipmyagent/shipmyagent/adapters/model/provider"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/config/catalog"
)

// Main is a model at the address of the main model.
func Main(llm config.LLM, name string) provider.Endpoint {
	main := llm.Main()
	main.Model = name
	e := Of(llm, main)
	e.AddressKey = "llm.baseUrl"
	return e
}

// Fallbacks are the models that stand in for the main model.
func Fallbacks(llm config.LLM) (list []provider.Endpoint) {
	for i, f := range llm.Fallbacks {
		e := Of(llm, f)
		e.AddressKey = fmt.Sprintf("llm.fallbacks[%d].baseUrl", i)
		list = append(list, e)
	}
	return list
}

// Choices are the models that requests ask for by their names.
func Choices(llm config.LLM) (list []provider.Choice) {
	for i, f := range llm.Choices {
		c := provider.Choice{Name: f.Name, Endpoint: Of(llm, f)}
		c.AddressKey = fmt.Sprintf("llm.choices[%d].baseUrl", i)
		list = append(list, c)
	}
	return list
}

// Answering are the models that can answer in chats: the main model, and those that people may choose in its place.
func Answering(llm config.LLM) []decision.ModelChoice {
	list := []decision.ModelChoice{{Name: decision.MainModel, Label: llm.Model}}
	if llm.Provider == config.ProviderDemo {
		list[0].Label = demo.Name
	}
	for _, f := range llm.Choices {
		if f.Name != model.Vision && f.Name != model.Summary && f.Name != model.Memory {
			list = append(list, decision.ModelChoice{Name: f.Name, Label: f.Model})
		}
	}
	return list
}

// Of is one model at one address, with the settings of that model.
func Of(llm config.LLM, f config.Fallback) provider.Endpoint {
	own := llm.Models[f.Model]
	maxOutput := llm.MaxOutputTokens
	if own.MaxOutputTokens > 0 {
		maxOutput = own.MaxOutputTokens
	}
	tags := llm.ReasoningTags
	if own.ReasoningTags != nil {
		tags = own.ReasoningTags
	}
	e := provider.Endpoint{
		BaseURL: f.BaseURL, APIKey: provider.Secret(f.APIKey.Reveal()), Model: f.Model,
		Organization: f.Organization, AzureVersion: f.APIVersion, Headers: revealed(f.Headers), Query: revealed(f.Query),
		Settings: provider.Settings{
			MaxTokensField: own.TokensParam, MaxOutputTokens: maxOutput,
			ReasoningTags: tags, NoTools: !TakesTools(llm, f.Model), FirstByteTimeout: time.Duration(own.FirstByteS) * time.Second,
			NoImages: own.Images != nil && !*own.Images, NoFiles: own.Files != nil && !*own.Files,
		},
	}
	switch f.Protocol() {
	case catalog.Messages:
		e.API = provider.APIMessages
		known, _ := f.Known()
		e.Settings.Thinking, e.Settings.OutputLimit = thinking(own.ReasoningEffort, known.Thinking), known.MaxOutputTokens
		if most := known.MaxOutputTokens; most > 0 { // half of it is left for the answer
			e.Settings.Thinking.Budget = min(e.Settings.Thinking.Budget, most/2)
		}
	case catalog.Responses:
		e.API = provider.APIResponses
		e.Settings.Thinking.Effort = own.ReasoningEffort
	case catalog.Chat:
		if own.ReasoningEffort != "" {
			e.Settings.Members = append(e.Settings.Members, provider.Member{Name: "reasoning_effort", Value: strconv.AppendQuote(nil, own.ReasoningEffort)}) // one of a few words
		}
	}
	if t := own.Temperature; t != nil {
		e.Settings.Members = slices.Insert(e.Settings.Members, 0, provider.Member{Name: "temperature", Value: strconv.AppendFloat(nil, *t, 'f', -1, 64)})
	}
	return e
}

// efforts are the words of llm.models.*.reasoningEffort that mean thinking, with the tokens that they
// stand for at models that take a budget.
var efforts = []effort{ //nolint:gochecknoglobals // a table
	{"minimal", 1024}, {"low", 2048}, {"medium", 8192}, {"high", 16384}, {"xhigh", 32768}, {"max", 49152},
}

type effort struct {
	word   string
	tokens int
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

// TakesTools reports whether a model accepts tools, according to the settings.
func TakesTools(llm config.LLM, name string) bool {
	if own := llm.Models[name].Tools; own != nil {
		return *own
	}
	return llm.Tools
}

func revealed(secrets map[string]config.Secret) map[string]provider.Secret {
	if len(secrets) == 0 {
		return nil
	}
	out := make(map[string]provider.Secret, len(secrets))
	for name, s := range secrets {
		out[name] = provider.Secret(s.Reveal())
	}
	return out
}
