package host

import (
	"fmt"
	"strconv"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/demo"
	"github.com/shipmyagent/shipmyagent/adapters/model/openai"
	"github.com/shipmyagent/shipmyagent/config"
)

// demo reports that the built-in model answers.
func (h *Host) demo() bool { return h.opts.Settings.Settings.LLM.Provider == config.ProviderDemo }

// modelLabel is what people call the model.
func (h *Host) modelLabel() string {
	if h.demo() {
		return demo.Name
	}
	return h.opts.Settings.Settings.LLM.Model
}

// newModel makes the model of the settings. It asks nobody.
func (h *Host) newModel() (model.Model, error) {
	llm := h.opts.Settings.Settings.LLM
	switch {
	case h.opts.Model != nil:
		return h.opts.Model, nil
	case h.demo():
		return demo.New(demo.Options{}), nil
	}
	o := openai.Options{
		Endpoint:         mainEndpoint(llm, llm.Model),
		FirstByteTimeout: time.Duration(llm.FirstByteS) * time.Second, IdleTimeout: time.Duration(llm.IdleTimeoutS) * time.Second,
		Logger: h.opts.Logger.With("component", "model"), Metrics: h.registry, Load: h.shelf.Load,
	}
	for i, f := range llm.Fallbacks {
		e := endpoint(llm, f)
		e.AddressKey = fmt.Sprintf("llm.fallbacks[%d].baseUrl", i)
		o.Fallbacks = append(o.Fallbacks, e)
	}
	m, err := openai.New(o)
	if err != nil {
		return nil, &Failure{Kind: KindConfig, What: "the model cannot be set up", Why: err, Help: "sma config check --dir " + h.opts.Dir}
	}
	h.watchHealth(m)
	return m, nil
}

// mainEndpoint is a model at the address of the main one.
func mainEndpoint(llm config.LLM, name string) openai.Endpoint {
	e := endpoint(llm, config.Fallback{
		Model: name, BaseURL: llm.BaseURL, APIKey: llm.APIKey,
		Organization: llm.Organization, APIVersion: llm.APIVersion, Headers: llm.Headers, Query: llm.Query,
	})
	e.AddressKey = "llm.baseUrl"
	return e
}

// endpoint is one model at one address, with what is known of that model.
func endpoint(llm config.LLM, f config.Fallback) openai.Endpoint {
	own := llm.Models[f.Model]
	maxOutput := llm.MaxOutputTokens
	if own.MaxOutputTokens > 0 {
		maxOutput = own.MaxOutputTokens
	}
	tags := llm.ReasoningTags
	if own.ReasoningTags != nil {
		tags = own.ReasoningTags
	}
	return openai.Endpoint{
		BaseURL: f.BaseURL, APIKey: openai.Secret(f.APIKey.Reveal()), Model: f.Model,
		Organization: f.Organization, AzureVersion: f.APIVersion, Headers: revealed(f.Headers), Query: revealed(f.Query),
		Settings: openai.Settings{
			MaxTokensField: own.TokensParam, MaxOutputTokens: maxOutput,
			Members:       members(own),
			ReasoningTags: tags, NoTools: !takesTools(llm, f.Model), FirstByteTimeout: time.Duration(own.FirstByteS) * time.Second,
			Images: takes(own.Images), Files: takes(own.Files),
		},
	}
}

// members are the settings of a model that its requests carry as they are.
func members(own config.ModelSettings) (list []openai.Member) {
	if t := own.Temperature; t != nil {
		list = append(list, openai.Member{Name: "temperature", Value: strconv.AppendFloat(nil, *t, 'f', -1, 64)})
	}
	if own.ReasoningEffort != "" {
		list = append(list, openai.Member{Name: "reasoning_effort", Value: strconv.AppendQuote(nil, own.ReasoningEffort)}) // one of a few words
	}
	return list
}

// takesTools reports whether a model takes tools, as far as the settings know.
func takesTools(llm config.LLM, name string) bool {
	if own := llm.Models[name].Tools; own != nil {
		return *own
	}
	return llm.Tools
}

func revealed(secrets map[string]config.Secret) map[string]openai.Secret {
	if len(secrets) == 0 {
		return nil
	}
	out := make(map[string]openai.Secret, len(secrets))
	for name, s := range secrets {
		out[name] = openai.Secret(s.Reveal())
	}
	return out
}

// takes is a setting that may be left to the model's name.
func takes(set *bool) openai.Takes {
	switch {
	case set == nil:
		return openai.TakesAuto
	case *set:
		return openai.TakesYes
	}
	return openai.TakesNo
}
