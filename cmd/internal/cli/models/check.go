package models

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/provider"
	"github.com/shipmyagent/shipmyagent/cmd/internal/checkup"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
	"github.com/shipmyagent/shipmyagent/cmd/internal/endpoints"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

// Check is how one model answered. Members are only ever added.
type Check struct {
	Role         string `json:"role"`
	Name         string `json:"name"`
	OK           bool   `json:"ok"`
	LatencyMS    int64  `json:"latencyMs"`
	InputTokens  *int64 `json:"inputTokens,omitempty"`
	OutputTokens *int64 `json:"outputTokens,omitempty"`
	// Reason is why it did not answer, in one word as in the metrics, and Said is what its service said.
	Reason model.Reason `json:"reason,omitempty"`
	Said   string       `json:"said,omitempty"`
	// Block is its block in the settings.
	Block string `json:"block"`
	Fix   string `json:"fix,omitempty"` // what to do
}

// Ask asks the models that settings name, all at once, or only those with a name. Models of speech are not asked.
func Ask(ctx context.Context, s config.Settings, name string) []Check {
	llm := s.LLM
	if llm.Provider == config.ProviderDemo {
		return []Check{}
	}
	type question struct {
		Check
		ask func(key string) reply
	}
	var questions []question
	add := func(role, block, model string, ask func(key string) reply) {
		if name == "" || name == model {
			questions = append(questions, question{Check{Role: role, Name: model, Block: block}, ask})
		}
	}
	chat := func(f config.Fallback) func(string) reply {
		return func(key string) reply { return askModel(ctx, llm, f, key) }
	}
	add(roleMain, "llm", llm.Model, chat(llm.Main()))
	for _, m := range alternatives(llm) {
		add(m.role, m.block, m.Model, chat(m.Fallback))
	}
	if embeddings := s.Context.Memory.EmbeddingModel; embeddings != "" {
		add(roleEmbeddings, "llm", embeddings, func(string) reply { return askEmbeddings(ctx, llm, embeddings) })
	}
	out := make([]Check, len(questions))
	var wg sync.WaitGroup
	for i, q := range questions {
		wg.Go(func() { out[i] = q.withReply(q.ask(q.Block + ".baseUrl")) })
	}
	wg.Wait()
	return out
}

func (c Check) withReply(r reply) Check {
	c.LatencyMS, c.InputTokens, c.OutputTokens = r.took.Milliseconds(), r.usage.InputTokens, r.usage.OutputTokens
	switch failed, ok := errors.AsType[*model.Error](r.err); {
	case r.err == nil:
		c.OK = true
	case ok:
		c.Reason, c.Said = failed.Reason, checkup.OneLine(failed.Message, 300)
	default: // the time is over
		c.Reason = model.ReasonIdle
	}
	return c
}

// Explain adds what to do about models that did not answer, in English.
func Explain(checks []Check) []Check {
	for i, c := range checks {
		if !c.OK {
			fact, fix := c.trouble()
			checks[i].Fix, checks[i].Said = fix[0], cmp.Or(c.Said, fact[0])
		}
	}
	return checks
}

// Verdict is the failure of the whole: a refused key before an address that cannot be reached, and that before others.
func Verdict(a *console.Console, checks []Check) error {
	code := console.CodeOK
	for _, c := range checks {
		switch {
		case c.OK, code == console.CodeCredential:
		case c.Reason == model.ReasonAuth:
			code = console.CodeCredential
		case c.Reason == model.ReasonNetwork:
			code = console.CodeUnreachable
		case code == console.CodeOK:
			code = console.CodeFailed
		}
	}
	if code == console.CodeOK {
		return nil
	}
	return &console.Failure{Code: code, What: a.Text("not every model answers", "并非所有模型都能回答")}
}

// CheckText shows how models answered.
func CheckText(a *console.Console, checks []Check) string {
	if len(checks) == 0 {
		return a.Text("there is only the demo model, which has no service to ask\n", "只有演示模型，没有可以询问的服务\n")
	}
	var out strings.Builder
	for _, c := range checks {
		if c.OK {
			fmt.Fprintf(&out, a.Text("ok    %s: %s: %s\n", "ok    %s：%s：%s\n"), roleText(a, c.Role), c.Name, c.answered(a))
			continue
		}
		fact, fix := c.trouble()
		fmt.Fprintf(&out, a.Text("fail  %s: %s: %s", "fail  %s：%s：%s"), roleText(a, c.Role), c.Name, a.Text(fact[0], fact[1]))
		if c.Said != "" && c.Said != fact[0] {
			fmt.Fprintf(&out, a.Text(" (%s)", "（%s）"), c.Said)
		}
		fmt.Fprintf(&out, a.Text("\n      try: %s\n", "\n      建议：%s\n"), a.Words(a.Text(fix[0], fix[1])))
	}
	return out.String()
}

func (c Check) answered(a *console.Console) string {
	text := fmt.Sprintf(a.Text("answered in %d ms", "%d 毫秒内回答"), c.LatencyMS)
	if c.InputTokens != nil && c.OutputTokens != nil {
		text += fmt.Sprintf(a.Text(", %d tokens in, %d out", "，输入 %d token，输出 %d token"), *c.InputTokens, *c.OutputTokens)
	}
	return text
}

// trouble says what is wrong and what to do, in English and Chinese.
func (c Check) trouble() (fact, fix [2]string) {
	at := func(key string) string { return c.Block + "." + key }
	switch c.Reason {
	case model.ReasonAuth:
		return [2]string{"its service refuses the key", "服务拒绝了密钥"},
			[2]string{"check the key that sma config show --origin names as " + at("apiKey"), "检查 sma config show --origin 显示的 " + at("apiKey")}
	case model.ReasonQuota:
		return [2]string{"its account has nothing left to pay with", "账户余额或额度已用完"}, [2]string{"top up the account of this key", "为这个密钥的账户充值"}
	case model.ReasonNotFound:
		return [2]string{"its service does not know it", "服务不认识这个模型"},
			[2]string{"check " + at("model") + "; sma models --all lists names, and sma doctor --online asks the service", "检查 " + at("model") + "；sma models --all 列出名称，sma doctor --online 会询问服务"}
	case model.ReasonAddress:
		return [2]string{"something else answers at its address", "它的地址上不是模型服务"}, [2]string{"check " + at("baseUrl") + "; it usually ends in /v1", "检查 " + at("baseUrl") + "，通常以 /v1 结尾"}
	case model.ReasonNetwork:
		if fix := checkup.ConnectionFix(c.Said); fix != "" {
			return [2]string{"no secure connection can be made", "无法建立安全连接"}, [2]string{fix, fix}
		}
		return [2]string{"it cannot be reached", "无法连接"}, [2]string{"check " + at("baseUrl") + " and the network", "检查 " + at("baseUrl") + " 和网络"}
	case model.ReasonRate:
		return [2]string{"its service was asked too often", "请求过于频繁"}, [2]string{"wait, or set llm.requestsPerMinute", "稍等，或设置 llm.requestsPerMinute"}
	case model.ReasonOverloaded:
		return [2]string{"its service is overloaded", "服务过载"}, [2]string{"wait, or add a model to llm.fallbacks", "稍等，或在 llm.fallbacks 中添加模型"}
	case model.ReasonIdle:
		return [2]string{"it did not answer in time", "它没有及时回答"}, [2]string{"raise llm.models." + c.Name + ".firstByteS if it is slow", "如果它较慢，调大 llm.models." + c.Name + ".firstByteS"}
	case model.ReasonCut:
		return [2]string{"its answer broke off or could not be read", "回答中途断开或无法读取"}, [2]string{"check " + at("api") + " and " + at("baseUrl"), "检查 " + at("api") + " 和 " + at("baseUrl")}
	case model.ReasonBadRequest:
		return [2]string{"its service refuses the request", "服务拒绝了请求"},
			[2]string{"see what it says; " + at("api") + " or the settings in llm.models." + c.Name + " may not fit", "请看服务的说明；" + at("api") + " 或 llm.models." + c.Name + " 中的设置可能不合适"}
	case model.ReasonTooLong, model.ReasonFiltered, model.ReasonInternal:
	}
	return [2]string{"it failed", "它出错了"}, [2]string{"see what it says, and the log of the host", "请看服务的说明和主机日志"}
}

// askWithin bounds one question to a model.
const askWithin = 90 * time.Second

// reply says how a model answered a question.
type reply struct {
	took  time.Duration
	usage model.Usage
	err   error // an [*model.Error], unless the time was over
}

// askModel asks one model a question of one line, as the host would ask it, but without its fallbacks and without a
// second attempt. The service may charge for it.
func askModel(ctx context.Context, llm config.LLM, f config.Fallback, addressKey string) reply {
	transport := provider.NewTransport()
	defer transport.CloseIdleConnections()
	e := endpoints.Of(llm, f)
	e.AddressKey = addressKey
	return timed(ctx, func(ctx context.Context, r *reply) error {
		m, err := provider.New(provider.Options{
			Endpoint: e, FirstByteTimeout: time.Duration(llm.FirstByteS) * time.Second, IdleTimeout: time.Duration(llm.IdleTimeoutS) * time.Second,
			MaxAttempts: 1, Transport: transport,
		})
		if err != nil {
			return &model.Error{Reason: model.ReasonAddress, Message: err.Error()}
		}
		req := model.Request{ID: "check", Messages: []modelmessage.Message{{Role: modelmessage.RoleUser, Text: "Answer with the word OK."}}}
		for event, err := range m.Stream(ctx, req) {
			if err != nil {
				return err
			}
			if event.Kind == model.EventFinish {
				r.usage = event.Usage
			}
		}
		return nil
	})
}

// askEmbeddings asks the embedding model for the vector of one word.
func askEmbeddings(ctx context.Context, llm config.LLM, name string) reply {
	transport := provider.NewTransport()
	defer transport.CloseIdleConnections()
	f := llm.Main()
	f.Model = name
	return timed(ctx, func(ctx context.Context, _ *reply) error {
		embedder, err := provider.NewEmbedder(endpoints.Of(llm, f), transport, nil)
		if err != nil {
			return &model.Error{Reason: model.ReasonAddress, Message: err.Error()}
		}
		_, err = embedder.Embed(ctx, model.Payer{}, []string{"OK"})
		return err
	})
}

func timed(ctx context.Context, ask func(context.Context, *reply) error) (r reply) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	began := time.Now()
	r.err = ask(ctx, &r)
	r.took = time.Since(began)
	return r
}
