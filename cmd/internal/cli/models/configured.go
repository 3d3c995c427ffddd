package models

import (
	"fmt"

	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/config/catalog"
)

// The roles of models, but for the fallbacks, which have numbers.
const (
	roleMain       = "main"
	roleEmbeddings = "embeddings"
	roleTranscribe = "transcribe"
	roleSpeak      = "speak"
)

// Row is one model that the settings name. Members are only ever added.
type Row struct {
	Role            string            `json:"role"` // main, fallback 1, embeddings, transcribe or speak
	Name            string            `json:"name"`
	Provider        string            `json:"provider,omitempty"`
	API             string            `json:"api,omitempty"`
	Address         string            `json:"address,omitempty"`
	ContextWindow   int               `json:"contextWindow,omitempty"`   // 0: unknown
	MaxOutputTokens int               `json:"maxOutputTokens,omitempty"` // 0: unknown
	Images          *bool             `json:"images,omitempty"`
	Files           *bool             `json:"files,omitempty"`
	Tools           *bool             `json:"tools,omitempty"`
	Thinking        *catalog.Thinking `json:"thinking,omitempty"`
	USDPerMillion   *catalog.Prices   `json:"usdPerMillion,omitempty"`
	Catalog         *Entry            `json:"catalog,omitempty"` // nil if the catalog has no entry for it
	// Origins say where the values are from, by the member.
	Origins map[string]string `json:"origins,omitempty"`
}

// Entry is the entry of the catalog that describes a model.
type Entry struct {
	Name string `json:"name"`
	Note string `json:"note,omitempty"`
	catalog.Source
}

// Configured are the models that settings name.
func Configured(l *config.Loaded) []Row {
	llm := l.Settings.LLM
	if llm.Provider == config.ProviderDemo {
		return append([]Row{{Role: roleMain, Name: config.ProviderDemo, Provider: config.ProviderDemo, Origins: map[string]string{"provider": l.Origin("llm.provider").String()}}}, others(l)...)
	}
	rows := []Row{chatRow(l, roleMain, "llm", llm.Main())}
	for _, m := range alternatives(llm) {
		rows = append(rows, chatRow(l, m.role, m.block, m.Fallback))
	}
	return append(rows, others(l)...)
}

// alternative is a model that answers in chats in place of the main one. block is its block in the settings.
type alternative struct {
	role, block string
	config.Fallback
}

func alternatives(llm config.LLM) (list []alternative) {
	for i, f := range llm.Fallbacks {
		list = append(list, alternative{fmt.Sprintf("fallback %d", i+1), fmt.Sprintf("llm.fallbacks[%d]", i), f})
	}
	for i, f := range llm.Choices {
		list = append(list, alternative{"choice " + f.Name, fmt.Sprintf("llm.choices[%d]", i), f})
	}
	return list
}

func ofCatalog(m catalog.Model) string {
	return config.Origin{Source: config.FromCatalog, Name: m.Name}.String()
}

// chatRow is a model that answers in chats. block is its block in the settings.
func chatRow(l *config.Loaded, role, block string, f config.Fallback) Row {
	known, isKnown := f.Known()
	r := Row{
		Role: role, Name: f.Model, Provider: f.Provider, API: string(f.Protocol()), Address: f.BaseURL, Thinking: known.Thinking,
		Origins: map[string]string{"name": l.Origin(block + ".model").String()},
	}
	for member, key := range map[string]string{"provider": ".provider", "api": ".api", "address": ".baseUrl"} {
		r.Origins[member] = l.Origin(block + key).String()
	}
	if known.Thinking != nil {
		r.Origins["thinking"] = ofCatalog(known)
	}
	if isKnown {
		r.Catalog = &Entry{Name: known.Name, Note: known.Note, Source: known.Source}
	}
	r.limits(l, f.Model, known)
	r.abilities(l, f.Model, known)
	prices, set := l.Settings.LLM.Prices(f)
	switch r.USDPerMillion = prices; {
	case set:
		r.Origins["usdPerMillion"] = l.Origin("llm.models." + f.Model + ".usdPerMInput").String()
	case prices != nil:
		r.Origins["usdPerMillion"] = ofCatalog(known)
	}
	return r
}

// limits are the window and the longest answer of a model.
func (r *Row) limits(l *config.Loaded, name string, known catalog.Model) {
	llm := l.Settings.LLM
	own := llm.Models[name]
	for _, limit := range []struct {
		into            *int
		member          string
		own, all, known int
	}{
		{&r.ContextWindow, "contextWindow", own.ContextWindow, llm.ContextWindow, known.ContextWindow},
		{&r.MaxOutputTokens, "maxOutputTokens", own.MaxOutputTokens, llm.MaxOutputTokens, known.MaxOutputTokens},
	} {
		switch {
		case limit.own > 0:
			*limit.into, r.Origins[limit.member] = limit.own, l.Origin("llm.models."+name+"."+limit.member).String()
		case limit.all > 0:
			*limit.into, r.Origins[limit.member] = limit.all, l.Origin("llm."+limit.member).String()
		case limit.known > 0:
			*limit.into, r.Origins[limit.member] = limit.known, ofCatalog(known)
		}
	}
}

// abilities are what a model takes, as far as it is known.
func (r *Row) abilities(l *config.Loaded, name string, known catalog.Model) {
	llm := l.Settings.LLM
	own := llm.Models[name]
	for _, a := range []struct {
		into   **bool
		member string
		set    *bool
	}{{&r.Images, "images", own.Images}, {&r.Files, "files", own.Files}, {&r.Tools, "tools", own.Tools}} {
		if *a.into = a.set; a.set != nil {
			r.Origins[a.member] = l.Origin("llm.models." + name + "." + a.member).String()
		}
	}
	switch {
	case r.Tools != nil:
	case !llm.Tools:
		r.Tools, r.Origins["tools"] = new(bool), l.Origin("llm.tools").String()
	case known.Tools != nil:
		r.Tools, r.Origins["tools"] = known.Tools, ofCatalog(known)
	}
}

// others are the models for embeddings and speech.
func others(l *config.Loaded) (rows []Row) {
	s := l.Settings
	origins := func(model, address string) map[string]string {
		return map[string]string{"name": l.Origin(model).String(), "address": l.Origin(address).String()}
	}
	if name := s.Context.Memory.EmbeddingModel; name != "" {
		f := s.LLM.Main()
		f.Model = name
		known, isKnown := f.Known()
		prices, set := s.LLM.EmbeddingPrices(name)
		r := Row{Role: roleEmbeddings, Name: name, Provider: s.LLM.Provider, Address: s.LLM.BaseURL, USDPerMillion: prices, Origins: origins("context.memory.embeddingModel", "llm.baseUrl")}
		if isKnown {
			r.Catalog = &Entry{Name: known.Name, Note: known.Note, Source: known.Source}
		}
		switch {
		case set:
			r.Origins["usdPerMillion"] = l.Origin("llm.models." + name + ".usdPerMInput").String()
		case prices != nil:
			r.Origins["usdPerMillion"] = ofCatalog(known)
		}
		rows = append(rows, r)
	}
	for _, v := range []struct {
		role, name, address, block string
		command                    []string
	}{
		{roleTranscribe, s.Speech.Transcribe.Model, s.Speech.Transcribe.BaseURL, "speech.transcribe", s.Speech.Transcribe.Command},
		{roleSpeak, s.Speech.Speak.Model, s.Speech.Speak.BaseURL, "speech.speak", s.Speech.Speak.Command},
	} {
		switch {
		case len(v.command) > 0:
			rows = append(rows, Row{Role: v.role, Name: v.command[0], Origins: map[string]string{"name": l.Origin(v.block + ".command").String()}})
		case v.name != "":
			rows = append(rows, Row{Role: v.role, Name: v.name, Address: v.address, Origins: origins(v.block+".model", v.block+".baseUrl")})
		}
	}
	return rows
}
