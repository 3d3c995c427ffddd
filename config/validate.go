package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/shipmyagent/shipmyagent/config/internal/keys"
)

// month is how many days a limit per month looks back at most.
const month = 31

// shortToken is the length below which a token is considered easy to guess.
const shortToken = 16

// validate reports faulty settings at the places where they are set, and warns about settings that are allowed but
// unwise. Values are checked against the table first, and then their combinations.
func (l *loader) validate() {
	l.Check(l.Table)
	l.validateModels()
	l.validatePlatforms()
	l.validateListeners()
	l.validateBudget()
	l.validateSpeech()
	l.validatePermissions()
	if l.WarnSecrets("") {
		l.WarnOpen(filepath.Join(l.Dir, FileName), FileName, "the file holds secrets and its mode is %#o, so others may read them; run: chmod 600 %s")
	}
	l.warnOpenness()
	for i, path := range l.settings.Skills.Paths {
		rel, err := filepath.Rel(l.Dir, l.Absolute(path))
		if !l.settings.Skills.AllowExternalPaths && (err != nil || !filepath.IsLocal(rel)) {
			l.Warn(fmt.Sprintf("skills.paths[%d]", i), "leads out of the project and is skipped; move the skills, or set skills.allowExternalPaths to true")
		}
	}
}

// endpoints are the main model, its fallbacks and the choices, by their blocks.
func (s *Settings) endpoints() (blocks []string, all []Fallback) {
	blocks = []string{"llm"}
	all = []Fallback{s.LLM.Main()}
	for at, f := range s.LLM.others() {
		blocks, all = append(blocks, strings.TrimSuffix(at, ".")), append(all, *f)
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
		list, _, _ := strings.Cut(blocks[1], "[")
		l.Fault(list, "is for when there is a model, but there is only the demo model; set llm.model and its key")
	}
	l.validateChoices()
	known, name := providerOf(s.LLM.Provider), s.Context.Memory.EmbeddingModel
	own := s.LLM.BaseURL == "" || s.LLM.BaseURL == known.BaseURL
	const key = "context.memory.embeddingModel"
	l.FaultIf(strings.ContainsFunc(name, unicode.IsSpace), key, "has blanks, which no name of a model has")
	l.FaultIf(name != "" && s.LLM.Provider == ProviderDemo, key, "needs a model's API, but there is only the demo model; set llm.model and its key, or leave it out")
	l.FaultIf(name != "" && own && known.NoEmbeddings, key, "is asked for at llm's address, and "+known.Name+" has no embeddings; leave it out")
}

// validateChoices checks the names by which models are chosen.
func (l *loader) validateChoices() {
	llm, taken := &l.settings.LLM, map[string]bool{"main": true}
	for at, f := range llm.others() {
		if strings.HasPrefix(at, "llm.fallbacks") {
			l.FaultIf(f.Name != "", at+"name", "is for llm.choices only; leave it out")
			continue
		}
		const letters = "abcdefghijklmnopqrstuvwxyz0123456789-"
		l.FaultIf(f.Name == "" || len(f.Name) > 32 || strings.Trim(f.Name, letters) != "", at+"name", "must be a short name of lower-case letters, digits and dashes, such as fast; people choose the model by it")
		l.FaultIf(taken[f.Name], at+"name", "is taken; every choice needs a name of its own, and main is llm.model")
		taken[f.Name] = true
	}
}

// validateModel checks that a model can be called. A remote service without a key is only warned about, as some need
// none.
func (l *loader) validateModel(block string, f Fallback) {
	known := providerOf(f.Provider)
	isKnown := known.Name != "" || f.Provider == ProviderCustom
	if f.BaseURL != "" && f.Provider != ProviderDemo {
		l.Fault(block+".baseUrl", wrongBaseURL(f.BaseURL))
	}
	hint := `write "${NAME}" and set that variable in the environment or in ` + keys.EnvFile
	if variable := known.variable(); block == "llm" {
		if variable == "" {
			variable = EnvName("llm.apiKey")
		}
		hint = "set " + variable + " in the environment or in " + keys.EnvFile
	}
	l.FaultIf(isKnown && f.Model == "", block+".model", "is not set; write the name of the model as its provider spells it")
	l.FaultIf(isKnown && f.BaseURL == "" && known.BaseURL == "", block+".baseUrl", `is not set; provider "custom" needs it, such as "http://127.0.0.1:11434/v1"`)
	l.FaultIf(known.needsKeyAt(f.BaseURL) && f.APIKey.IsZero(), block+".apiKey", "is not set; "+hint)
	given := !f.APIKey.IsZero() || len(f.Headers) > 0 || len(f.Query) > 0
	if f.Provider == ProviderCustom && !given && f.BaseURL != "" && !isLoopback(f.BaseURL) && !l.HasError(block+".apiKey") && !l.HasError(block+".baseUrl") {
		l.Report(Warn, l.Position(block+".baseUrl"), block+".apiKey", block+".apiKey is not set; if this service wants a key, "+hint)
	}
}

// validateBudget refuses limits in dollars that cannot be enforced because prices are missing.
func (l *loader) validateBudget() {
	s := &l.settings
	b := s.Budget
	months := b.PersonTokensPerMonth > 0 || b.ChatTokensPerMonth > 0 || b.HostTokensPerMonth > 0 || b.USDPerPersonPerMonth > 0 || b.USDPerChatPerMonth > 0 || b.USDPerHostPerMonth > 0
	l.FaultIf(months && s.Retention.AuditDays > 0 && s.Retention.AuditDays < month, "retention.auditDays", "removes what a limit per month in budget has to know; set 31 or more, or 0")
	if b.AtLimit == AtLimitCheaper {
		model := s.CheaperModel()
		l.FaultIf(b.Cheaper == "", "budget.cheaper", "is not set; name the one of llm.choices that is asked at a limit, or set atLimit to pause or ask")
		l.FaultIf(b.Cheaper != "" && model == "", "budget.cheaper", "is not among llm.choices; name one of them")
		l.FaultIf(model != "" && model == s.LLM.Model, "budget.cheaper", "is the main model itself; name a cheaper one of llm.choices")
	}
	const unpriced = "is not set, but budget limits US dollars; set what the service takes"
	l.FaultIf(b.InDollars() && s.Speech.Transcribe.Model != "" && s.Speech.Transcribe.USDPerMinute == 0, "speech.transcribe.usdPerMinute", unpriced)
	l.FaultIf(b.InDollars() && s.Speech.Speak.Model != "" && s.Speech.Speak.USDPerMChars == 0, "speech.speak.usdPerMChars", unpriced)
	if !b.InDollars() || s.LLM.Provider == ProviderDemo {
		return
	}
	if name := s.Context.Memory.EmbeddingModel; name != "" {
		p, _ := s.LLM.EmbeddingPrices(name)
		l.FaultIf(p == nil && !l.isFree(name, "usdPerMInput"), "budget", "limits US dollars, but the price of the embedding model is not known; set usdPerMInput in "+keys.Join("llm.models", keys.Shorten(name)))
	}
	_, all := s.endpoints()
	for _, f := range all {
		if p, _ := s.LLM.Prices(f); f.Model != "" && p == nil && !l.isFree(f.Model, "usdPerMInput", "usdPerMOutput") {
			l.Fault("budget", "limits US dollars, but the prices of the model are not known; set usdPerMInput and usdPerMOutput in "+keys.Join("llm.models", keys.Shorten(f.Model)))
		}
	}
}

// isFree reports whether the settings say of each of some prices of a model that it is 0.
func (l *loader) isFree(model string, prices ...string) bool {
	if own := l.settings.LLM.Models[model]; own.USDPerMInput > 0 || own.USDPerMOutput > 0 {
		return false
	}
	return !slices.ContainsFunc(prices, func(name string) bool {
		return l.Origins.Untouched(keys.Join(keys.Join("llm.models", model), name))
	})
}

// validateSpeech checks the models and programs for voice messages.
func (l *loader) validateSpeech() {
	s := &l.settings
	for _, a := range s.Speech.apis() {
		switch {
		case a.model != "" && len(a.command) > 0:
			l.Fault(a.block+".command", "is set together with "+a.block+".model; use one of the two")
		case len(a.command) > 0:
			l.validateVoiceCommand(a)
		case a.model != "":
			l.validateVoiceModel(a)
		}
	}
	l.FaultIf(s.Speech.Transcribe.On() && s.Limits.FileMB == 0, "speech.transcribe", "needs the files that people send; set limits.fileMB")
}

func (l *loader) validateVoiceModel(a voiceAPI) {
	llm, url := l.settings.LLM, *a.baseURL
	known := providerOf(llm.Provider)
	l.FaultIf(strings.ContainsFunc(a.model, unicode.IsSpace), a.block+".model", "has blanks, which no name of a model has")
	l.FaultIf(url != "" && llm.Provider != ProviderDemo && url == llm.BaseURL && url == known.BaseURL && known.NoSpeech,
		a.block+".model", "is asked for at llm's address, and "+known.Name+" has no audio; set "+a.block+".baseUrl to an API that has")
	l.FaultIf(url == "", a.block+".baseUrl", "is not set, and there is only the demo model; set it, or llm.model and its key")
	l.Fault(a.block+".baseUrl", wrongBaseURL(url))
	l.FaultIf(url == providerOf(ProviderOpenAI).BaseURL && a.key.IsZero(),
		a.block+".apiKey", `is not set; write "${SPEECH_API_KEY}" and set that variable in the environment or in `+keys.EnvFile)
}

func (l *loader) validateVoiceCommand(a voiceAPI) {
	l.FaultIf(strings.TrimSpace(a.command[0]) == "" || strings.HasPrefix(a.command[0], "{"), a.block+".command[0]", "wants a program, such as \"whisper-cli\"")
	for i, arg := range a.command {
		l.FaultIf(strings.ContainsRune(arg, 0), fmt.Sprintf("%s.command[%d]", a.block, i), "has a NUL in it")
	}
	for i, path := range a.read {
		l.FaultIf(!filepath.IsAbs(path) || hasControl(path), fmt.Sprintf("%s.read[%d]", a.block, i), "wants a whole path, such as \"/opt/models\"")
	}
	l.FaultIf(*a.baseURL != "" || !a.key.IsZero(), a.block+".command", "runs a program, which needs neither baseUrl nor apiKey; leave them out")
}

// validatePermissions reports deny rules that can never match, because people rely on them, and warns about allow rules
// that cover nothing.
func (l *loader) validatePermissions() {
	exec := l.settings.Permissions.Exec
	l.FaultIf(len(exec.Approvers) == 0, "permissions.exec.approvers", `is empty, so nothing could ever be approved; "owner" is the usual entry`)
	for i, rule := range exec.Deny {
		if key := fmt.Sprintf("permissions.exec.deny[%d]", i); l.options.DenyFault != nil && !l.HasError(key) {
			if err := l.options.DenyFault(rule); err != nil {
				l.Fault(key, "can never match: "+err.Error())
			}
		}
	}
	for i, rule := range exec.Allow {
		if key := fmt.Sprintf("permissions.exec.allow[%d]", i); l.options.VoidRule != nil && !l.HasError(key) && l.options.VoidRule(rule) {
			l.Warn(key, `covers nothing: a rule is one plain command, such as "git status" or "ls *"; `+
				"* at its end stands for further operands and cannot follow a program that runs others, such as bash")
		}
	}
}
