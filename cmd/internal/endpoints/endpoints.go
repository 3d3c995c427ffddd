// Package endpoints makes the addresses of models from the settings.
package endpoints

import (
	"fmt"
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

// Embeddings is the embedding model, at the address of the main model.
func Embeddings(llm config.LLM, name string) provider.Endpoint {
	e := Main(llm, name)
	if p, _ := llm.EmbeddingPrices(name); p != nil {
		e.Cost = p.Cost
	}
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
	list := []decision.ModelChoice{{Name: decision.MainModel, Label: llm.Model, Efforts: effortsOf(llm.Main())}}
	if llm.Provider == config.ProviderDemo {
		list[0].Label, list[0].Efforts = demo.Name, nil
	}
	for _, f := range llm.Choices {
		if f.Name != model.Vision && f.Name != model.Summary && f.Name != model.Memory {
			list = append(list, decision.ModelChoice{Name: f.Name, Label: f.Model, Efforts: effortsOf(f)})
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
			MaxOutputTokens: maxOutput, ReasoningTags: tags, NoTools: !TakesTools(llm, f.Model), FirstByteTimeout: time.Duration(own.FirstByteS) * time.Second,
			NoImages: own.Images != nil && !*own.Images, NoFiles: own.Files != nil && !*own.Files,
		},
	}
	if p, _ := llm.Prices(f); p != nil {
		e.Cost = p.Cost
	}
	known, _ := f.Known()
	e.Settings.OutputLimit = known.MaxOutputTokens
	switch f.Protocol() {
	case catalog.Messages:
		e.API = provider.APIMessages
	case catalog.Responses:
		e.API = provider.APIResponses
	case catalog.Chat:
	}
	e.Settings.Thinking = thinkingOf(f, own.ReasoningEffort)
	if words := effortsOf(f); len(words) > 0 {
		e.Settings.Efforts = make(map[string]provider.Thinking, len(words))
		for _, word := range words {
			e.Settings.Efforts[word] = thinkingOf(f, word)
		}
	}
	if t := own.Temperature; t != nil {
		e.Settings.Members = append(e.Settings.Members, provider.Member{Name: "temperature", Value: strconv.AppendFloat(nil, *t, 'f', -1, 64)})
	}
	return e
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
