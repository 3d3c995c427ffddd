package config

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// shortToken is the length below which a token is considered easy to guess.
const shortToken = 16

// validate reports faulty settings at the places where they are set, and warns about settings that are allowed but
// unwise. Values are checked against the table first, and then their combinations.
func (l *loader) validate() {
	l.check(l.table)
	l.validateModels()
	l.validatePlatforms()
	l.validateListeners()
	l.validateBudget()
	l.validateSpeech()
	l.validatePermissions()
	if l.warnSecrets("") {
		l.warnOpen(filepath.Join(l.Dir, FileName), FileName, "the file holds secrets and its mode is %#o, so others may read them; run: chmod 600 %s")
	}
	l.warnOpenness()
	for i, path := range l.settings.Skills.Paths {
		rel, err := filepath.Rel(l.Dir, l.absolute(path))
		if !l.settings.Skills.AllowExternalPaths && (err != nil || !filepath.IsLocal(rel)) {
			l.warn(fmt.Sprintf("skills.paths[%d]", i), "leads out of the project and is skipped; move the skills, or set skills.allowExternalPaths to true")
		}
	}
	for _, k := range l.table.all() { // Nobody relies on a limit that is not enforced.
		if _, set := l.origins[k.key]; set && k.idle != "" && !k.value.IsZero() {
			l.warn(k.key, "has no effect yet; "+k.idle)
		}
	}
}

// endpoints are the main model and its fallbacks, by their blocks.
func (s *Settings) endpoints() (blocks []string, all []Fallback) {
	llm := s.LLM
	blocks = []string{"llm"}
	all = []Fallback{{Provider: llm.Provider, BaseURL: llm.BaseURL, Model: llm.Model, APIKey: llm.APIKey, Headers: llm.Headers, Query: llm.Query}}
	for i, f := range llm.Fallbacks {
		blocks, all = append(blocks, fmt.Sprintf("llm.fallbacks[%d]", i)), append(all, f)
	}
	return blocks, all
}

func (l *loader) validateModels() {
	s := &l.settings
	blocks, all := s.endpoints()
	for i, f := range all {
		l.validateModel(blocks[i], f)
	}
	if len(all) > 1 && s.LLM.Provider == ProviderDemo {
		l.fault("llm.fallbacks", "stand in for a model, but there is only the demo model; set llm.model and its key")
	}
	known, name := providerOf(s.LLM.Provider), s.Context.Memory.EmbeddingModel
	own := s.LLM.BaseURL == "" || s.LLM.BaseURL == known.baseURL
	const key = "context.memory.embeddingModel"
	l.faultIf(strings.ContainsFunc(name, unicode.IsSpace), key, "has blanks, which no name of a model has")
	l.faultIf(name != "" && s.LLM.Provider == ProviderDemo, key, "needs a model's API, but there is only the demo model; set llm.model and its key, or leave it out")
	l.faultIf(name != "" && own && known.noEmbeddings, key, "is asked for at llm's address, and "+known.name+" has no embeddings; leave it out")
}

// validateModel checks that a model can be called. A remote service without a key is only warned about, as some need
// none.
func (l *loader) validateModel(block string, f Fallback) {
	known := providerOf(f.Provider)
	isKnown := known.name != "" || f.Provider == ProviderCustom
	if f.BaseURL != "" && f.Provider != ProviderDemo {
		l.fault(block+".baseUrl", wrongBaseURL(f.BaseURL))
	}
	hint := `write "${NAME}" and set that variable in the environment or in ` + envFileName
	if variable := known.variable(); block == "llm" {
		if variable == "" {
			variable = EnvName("llm.apiKey")
		}
		hint = "set " + variable + " in the environment or in " + envFileName
	}
	l.faultIf(isKnown && f.Model == "", block+".model", "is not set; write the name of the model as its provider spells it")
	l.faultIf(isKnown && f.BaseURL == "" && known.baseURL == "", block+".baseUrl", `is not set; provider "custom" needs it, such as "http://127.0.0.1:11434/v1"`)
	l.faultIf(known.needsKeyAt(f.BaseURL) && f.APIKey.IsZero(), block+".apiKey", "is not set; "+hint)
	given := !f.APIKey.IsZero() || len(f.Headers) > 0 || len(f.Query) > 0
	if f.Provider == ProviderCustom && !given && f.BaseURL != "" && !isLoopback(f.BaseURL) && !l.hasError(block+".apiKey") && !l.hasError(block+".baseUrl") {
		l.report(Warn, l.place(block+".baseUrl"), block+".apiKey", block+".apiKey is not set; if this service wants a key, "+hint)
	}
}

// validateBudget refuses limits in dollars that cannot be enforced because prices are missing.
func (l *loader) validateBudget() {
	s := &l.settings
	b := s.Budget
	if b.USDPerRun == 0 && b.USDPerChatPerDay == 0 && b.USDPerHostPerDay == 0 || s.LLM.Provider == ProviderDemo {
		return
	}
	_, all := s.endpoints()
	for _, f := range all {
		if p := s.LLM.Models[f.Model]; f.Model != "" && (p.USDPerMInput == 0 || p.USDPerMOutput == 0) {
			l.fault("budget", "limits US dollars, but the prices of the model are not known; set usdPerMInput and usdPerMOutput in "+joinKey("llm.models", shorten(f.Model)))
		}
	}
}

// validateSpeech checks the models and programs for voice messages.
func (l *loader) validateSpeech() {
	s := &l.settings
	for _, a := range s.Speech.apis() {
		switch {
		case a.model != "" && len(a.command) > 0:
			l.fault(a.block+".command", "is set together with "+a.block+".model; use one of the two")
		case len(a.command) > 0:
			l.validateVoiceCommand(a)
		case a.model != "":
			l.validateVoiceModel(a)
		}
	}
	l.faultIf(s.Speech.Transcribe.On() && s.Limits.FileMB == 0, "speech.transcribe", "needs the files that people send; set limits.fileMB")
}

func (l *loader) validateVoiceModel(a voiceAPI) {
	llm, url := l.settings.LLM, *a.baseURL
	known := providerOf(llm.Provider)
	l.faultIf(strings.ContainsFunc(a.model, unicode.IsSpace), a.block+".model", "has blanks, which no name of a model has")
	l.faultIf(url != "" && llm.Provider != ProviderDemo && url == llm.BaseURL && url == known.baseURL && known.noSpeech,
		a.block+".model", "is asked for at llm's address, and "+known.name+" has no audio; set "+a.block+".baseUrl to an API that has")
	l.faultIf(url == "", a.block+".baseUrl", "is not set, and there is only the demo model; set it, or llm.model and its key")
	l.fault(a.block+".baseUrl", wrongBaseURL(url))
	l.faultIf(url == providerOf(ProviderOpenAI).baseURL && a.key.IsZero(),
		a.block+".apiKey", `is not set; write "${SPEECH_API_KEY}" and set that variable in the environment or in `+envFileName)
}

func (l *loader) validateVoiceCommand(a voiceAPI) {
	l.faultIf(strings.TrimSpace(a.command[0]) == "" || strings.HasPrefix(a.command[0], "{"), a.block+".command[0]", "wants a program, such as \"whisper-cli\"")
	for i, arg := range a.command {
		l.faultIf(strings.ContainsRune(arg, 0), fmt.Sprintf("%s.command[%d]", a.block, i), "has a NUL in it")
	}
	for i, path := range a.read {
		l.faultIf(!filepath.IsAbs(path) || hasControl(path), fmt.Sprintf("%s.read[%d]", a.block, i), "wants a whole path, such as \"/opt/models\"")
	}
	l.faultIf(*a.baseURL != "" || !a.key.IsZero(), a.block+".command", "runs a program, which needs neither baseUrl nor apiKey; leave them out")
}

// validatePermissions reports deny rules that can never match, because people rely on them, and warns about allow rules
// that cover nothing.
func (l *loader) validatePermissions() {
	exec := l.settings.Permissions.Exec
	l.faultIf(len(exec.Approvers) == 0, "permissions.exec.approvers", `is empty, so nothing could ever be approved; "owner" is the usual entry`)
	for i, rule := range exec.Deny {
		if key := fmt.Sprintf("permissions.exec.deny[%d]", i); l.DenyFault != nil && !l.hasError(key) {
			if err := l.DenyFault(rule); err != nil {
				l.fault(key, "can never match: "+err.Error())
			}
		}
	}
	for i, rule := range exec.Allow {
		if key := fmt.Sprintf("permissions.exec.allow[%d]", i); l.VoidRule != nil && !l.hasError(key) && l.VoidRule(rule) {
			l.warn(key, `covers nothing: a rule is one plain command, such as "git status" or "ls *"; `+
				"* at its end stands for further operands and cannot follow a program that runs others, such as bash")
		}
	}
}

// warnSecrets warns about secrets below a key that the file contains literally, and about those that come from files
// which others can read. It reports whether there are literal ones.
func (r *reader) warnSecrets(below string) (literal bool) {
	for _, key := range slices.Sorted(maps.Keys(r.notes)) {
		n := r.notes[key]
		if !n.secret || len(n.missing) > 0 || !strings.HasPrefix(key, below) {
			continue
		}
		if variable := n.proposed(key); n.literal && variable != "" {
			literal = true
			r.report(Warn, n.at, key, fmt.Sprintf("%s is spelled out here; write \"${%s}\" and set %s in the environment or in %s", key, variable, variable, envFileName))
		}
		for _, path := range n.files {
			if _, open := openToOthers(path); open {
				r.report(Warn, n.at, key, key+" is read from a file that others can read; run chmod 600 on it")
			}
		}
	}
	return literal
}

// proposed is the variable that a secret may be moved to: that of its row, or one after the name of a header or
// variable that is secret by its name.
func (n note) proposed(key string) string {
	block, name := parentKey(parentKey(key)), key[strings.LastIndexByte(key, '.')+1:]
	if n.variable != "" || !secretWords().MatchString(name) {
		return n.variable
	}
	for strings.HasSuffix(block, "]") {
		block = parentKey(parentKey(block))
	}
	block = block[strings.LastIndexByte(block, '.')+1:]
	return strings.ToUpper(regexp.MustCompile("[^a-zA-Z0-9]+").ReplaceAllString(block+"_"+name, "_"))
}
