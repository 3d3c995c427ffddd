package commands

import (
	"fmt"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/model"
)

// ModelStatus is the status of one model.
type ModelStatus struct {
	Name string `json:"name"`
	// SkippedS is for how many more seconds calls skip the model because it failed.
	SkippedS int `json:"skippedS,omitempty"`
	// Reason is why it failed the last time, in one word as in the metrics. It is empty after a success.
	Reason string `json:"reason,omitempty"`
	// NoTools is set if the model is called without tools.
	NoTools bool `json:"noTools,omitempty"`
	// RefusedEfforts are the words for how much to think that its service refused.
	RefusedEfforts string `json:"refusedEfforts,omitempty"`
}

// modelTroubles are lines about models that failed, are skipped or refuse something, in English and Chinese. They are
// empty if there are no such models.
func (c *Commands) modelTroubles() (en, zh string) {
	var english, chinese strings.Builder
	for _, m := range c.Health() {
		why := TroubleWords(model.Reason(m.Reason))
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
		if m.RefusedEfforts != "" {
			fmt.Fprintf(&english, "\n%s: its service refuses the effort %s, so it thinks as by default", m.Name, m.RefusedEfforts)
			fmt.Fprintf(&chinese, "\n%s：服务拒绝思考强度 %s，改用默认强度", m.Name, m.RefusedEfforts)
		}
	}
	return english.String(), chinese.String()
}

// TroubleWords say why a model failed, in English and Chinese.
func TroubleWords(r model.Reason) [2]string {
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
