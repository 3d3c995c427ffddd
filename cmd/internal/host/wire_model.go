package host

import (
	"fmt"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/demo"
	"github.com/shipmyagent/shipmyagent/adapters/model/provider"
	"github.com/shipmyagent/shipmyagent/cmd/internal/endpoints"
	"github.com/shipmyagent/shipmyagent/config"
)

// demo reports whether the built-in demo model is used.
func (h *Host) demo() bool { return h.opts.Settings.Settings.LLM.Provider == config.ProviderDemo }

// modelLabel is what people call the main model.
func (h *Host) modelLabel() string { return h.modelChoices()[0].Label }

// modelChoices are the main model and those that people may choose for a chat in its place.
func (h *Host) modelChoices() []decision.ModelChoice { return *h.live.choices.Load() }

// newModel makes the configured model. It contacts no service.
func (h *Host) newModel() (model.Model, error) {
	llm := h.opts.Settings.Settings.LLM
	switch {
	case h.opts.Model != nil:
		return h.opts.Model, nil
	case h.demo():
		return demo.New(demo.Options{}), nil
	}
	m, err := h.modelsOf(llm)
	if err != nil {
		return nil, &Failure{Kind: KindConfig, What: "the model cannot be set up", Why: err, Help: "sma config check --dir " + h.opts.Dir}
	}
	h.live.models.Store(m)
	return &h.live, nil
}

// modelsOf makes the models of some settings.
func (h *Host) modelsOf(llm config.LLM) (*provider.Choices, error) {
	return provider.NewChoices(provider.Options{
		Endpoint: endpoints.Main(llm, llm.Model), Fallbacks: endpoints.Fallbacks(llm),
		FirstByteTimeout: time.Duration(llm.FirstByteS) * time.Second, IdleTimeout: time.Duration(llm.IdleTimeoutS) * time.Second,
		Logger: h.opts.Logger.With("component", "model"), Metrics: h.registry, Load: h.shelf.Load,
	}, endpoints.Choices(llm))
}

// encoding is the tokenizer of the main model, or "" if it is unknown.
func encoding(llm config.LLM) string { return llm.Models[llm.Model].Encoding }

// ModelStatus is the status of one model.
type ModelStatus struct {
	Name string `json:"name"`
	// SkippedS is for how many more seconds calls skip the model because it failed.
	SkippedS int `json:"skippedS,omitempty"`
	// Reason is why it failed the last time, in one word as in the metrics. It is empty after a success.
	Reason string `json:"reason,omitempty"`
	// NoTools is set if the model is called without tools.
	NoTools bool `json:"noTools,omitempty"`
}

// models returns the status of the main model and of its fallbacks, in this order, or nil if it is unknown.
func (h *Host) models() []ModelStatus {
	models := h.live.models.Load()
	if models == nil {
		return nil
	}
	var out []ModelStatus
	for _, m := range models.Health() {
		s := ModelStatus{Name: m.Model, NoTools: m.NoTools, Reason: string(m.Reason)}
		if m.Skipped > 0 {
			s.SkippedS = max(1, int(m.Skipped.Round(time.Second).Seconds()))
		}
		out = append(out, s)
	}
	return out
}

// modelTroubles are lines about models that failed, are skipped or accept no tools, in English and Chinese. They are
// empty if there are no such models.
func (h *Host) modelTroubles() (en, zh string) {
	var english, chinese strings.Builder
	for _, m := range h.models() {
		why := troubleWords(model.Reason(m.Reason))
		switch {
		case m.SkippedS > 0:
			fmt.Fprintf(&english, "\n%s: not asked for the next %s, because %s", m.Name, spanEnglish(m.SkippedS), why[0])
			fmt.Fprintf(&chinese, "\n%s：接下来 %s内不会使用，因为%s", m.Name, spanChinese(m.SkippedS), why[1])
		case m.Reason != "":
			fmt.Fprintf(&english, "\n%s: failed the last time, because %s", m.Name, why[0])
			fmt.Fprintf(&chinese, "\n%s：最近一次调用失败，因为%s", m.Name, why[1])
		}
		if m.NoTools {
			fmt.Fprintf(&english, "\n%s: takes no tools, so it only answers with text", m.Name)
			fmt.Fprintf(&chinese, "\n%s：不支持工具，只能用文字回答", m.Name)
		}
	}
	return english.String(), chinese.String()
}

// troubleWords say why a model failed, in English and Chinese.
func troubleWords(r model.Reason) [2]string {
	switch r {
	case model.ReasonAuth:
		return [2]string{"its key was refused", "密钥被拒绝"}
	case model.ReasonQuota:
		return [2]string{"its account has nothing left to pay with", "账户余额或额度已用完"}
	case model.ReasonNotFound:
		return [2]string{"its service does not know it", "服务不认识这个模型"}
	case model.ReasonAddress:
		return [2]string{"something else answers at its address", "它的地址上不是模型服务"}
	case model.ReasonRate:
		return [2]string{"its service was asked too often", "请求过于频繁"}
	case model.ReasonOverloaded:
		return [2]string{"its service is overloaded", "服务过载"}
	case model.ReasonIdle:
		return [2]string{"it did not answer in time", "它没有及时回答"}
	case model.ReasonNetwork:
		return [2]string{"the connection failed", "连接失败"}
	case model.ReasonCut:
		return [2]string{"its answer broke off or could not be read", "回答中途断开或无法读取"}
	case model.ReasonTooLong, model.ReasonBadRequest, model.ReasonFiltered, model.ReasonInternal:
	}
	return [2]string{"it failed", "它出错了"}
}

func spanEnglish(seconds int) string {
	switch {
	case seconds == 1:
		return "second"
	case seconds < 90:
		return fmt.Sprintf("%d seconds", seconds)
	}
	return fmt.Sprintf("%d minutes", (seconds+30)/60)
}

func spanChinese(seconds int) string {
	if seconds < 90 {
		return fmt.Sprintf("%d 秒", seconds)
	}
	return fmt.Sprintf("%d 分钟", (seconds+30)/60)
}
