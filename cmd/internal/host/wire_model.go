package host

import (
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
		Endpoint:    endpoint(llm, llm.Model, llm.BaseURL, llm.APIKey),
		IdleTimeout: time.Duration(llm.IdleTimeoutS) * time.Second,
		Logger:      h.opts.Logger.With("component", "model"), Metrics: h.registry, Load: h.shelf.Load,
	}
	for _, f := range llm.Fallbacks {
		o.Fallbacks = append(o.Fallbacks, endpoint(llm, f.Model, f.BaseURL, f.APIKey))
	}
	m, err := openai.New(o)
	if err != nil {
		return nil, &Failure{Kind: KindConfig, What: "the model cannot be set up", Why: err, Help: "sma config check --dir " + h.opts.Dir}
	}
	return m, nil
}

// endpoint is one model at one address, with what is known of that model.
func endpoint(llm config.LLM, name, baseURL string, key config.Secret) openai.Endpoint {
	own := llm.Models[name]
	maxOutput := llm.MaxOutputTokens
	if own.MaxOutputTokens > 0 {
		maxOutput = own.MaxOutputTokens
	}
	return openai.Endpoint{
		BaseURL: baseURL, APIKey: openai.Secret(key.Reveal()), Model: name,
		Settings: openai.Settings{
			MaxTokensField: own.TokensParam, MaxOutputTokens: maxOutput,
			Temperature: own.Temperature, ReasoningEffort: own.ReasoningEffort,
			Images: takes(own.Images), Files: takes(own.Files),
		},
	}
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
