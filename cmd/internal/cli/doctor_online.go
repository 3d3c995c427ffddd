package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform/feishu"
	"github.com/shipmyagent/shipmyagent/cmd/internal/host"
	"github.com/shipmyagent/shipmyagent/config"
)

// maxAnswer bounds how much of a service's answer is read.
const maxAnswer = 4 << 20

// askServices queries the services that the settings name: the model's API, Telegram and Feishu. The requests cost
// and change nothing.
func askServices(ctx context.Context, s config.Settings) []finding {
	out := askModel(ctx, s.LLM)
	out = append(out, askTelegram(ctx, s.Adapters.Telegram)...)
	return append(out, askFeishu(ctx, s)...)
}

// askModel requests the list of models, which shows whether the key is valid.
func askModel(ctx context.Context, llm config.LLM) []finding {
	const name = "model"
	if llm.Provider == config.ProviderDemo {
		return nil
	}
	status, body, err := fetch(ctx, http.DefaultTransport, modelList(llm), modelHeader(llm))
	switch {
	case err != nil:
		return []finding{newFinding(name, markFail, llm.BaseURL+" cannot be reached: "+err.Error(), "check llm.baseUrl and the network")}
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return []finding{newFinding(name, markRefused, fmt.Sprintf("%s refuses the key (%d)", llm.BaseURL, status), "check the key that sma config show --origin names as llm.apiKey")}
	case status >= http.StatusInternalServerError || status == http.StatusTooManyRequests:
		return []finding{newFinding(name, markWarn, fmt.Sprintf("%s answers %d now", llm.BaseURL, status), "wait, or see the provider's own status page")}
	case status >= http.StatusMultipleChoices && status < http.StatusBadRequest:
		return []finding{newFinding(name, markFail, fmt.Sprintf("%s leads to another place (%d)", llm.BaseURL, status), "check llm.baseUrl; it usually ends in /v1")}
	case bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")):
		return []finding{newFinding(name, markFail, llm.BaseURL+" answered with a web page, not with a model's answer", "check llm.baseUrl; it usually ends in /v1")}
	case status != http.StatusOK:
		return []finding{newFinding(name, markOK, fmt.Sprintf("%s answers, and has no list of models (%d)", llm.BaseURL, status), "if no answer comes, check llm.baseUrl; it usually ends in /v1")}
	}
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	switch err := json.Unmarshal(body, &list); {
	case err != nil || list.Data == nil:
		return []finding{newFinding(name, markWarn, llm.BaseURL+" answered with something that is no list of models", "check llm.baseUrl; it usually ends in /v1")}
	case len(list.Data) == 0:
		return []finding{newFinding(name, markOK, llm.BaseURL+" answers", "")}
	}
	for _, m := range list.Data {
		if m.ID == llm.Model {
			return []finding{newFinding(name, markOK, llm.BaseURL+" takes the key and has "+llm.Model, "")}
		}
	}
	return []finding{newFinding(name, markWarn, llm.BaseURL+" takes the key, but does not list "+llm.Model, "check llm.model; some services do not list all they have")}
}

// modelList is the URL of a service's list of models.
func modelList(llm config.LLM) string {
	query := url.Values{}
	for name, value := range llm.Query {
		query.Set(name, value.Reveal())
	}
	address := strings.TrimRight(llm.BaseURL, "/") + "/models"
	if llm.APIVersion != "" {
		address = strings.TrimRight(llm.BaseURL, "/") + "/openai/models"
		query.Set("api-version", llm.APIVersion)
	}
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	return address
}

// modelHeader is the header that requests to the model carry.
func modelHeader(llm config.LLM) http.Header {
	header := http.Header{}
	switch key := llm.APIKey.Reveal(); {
	case key == "":
	case llm.APIVersion != "":
		header.Set("Api-Key", key)
	default:
		header.Set("Authorization", "Bearer "+key)
	}
	if llm.Provider == config.ProviderAnthropic {
		header.Set("X-Api-Key", llm.APIKey.Reveal())
		header.Set("Anthropic-Version", "2023-06-01")
	}
	if llm.Organization != "" {
		header.Set("OpenAI-Organization", llm.Organization)
	}
	for name, value := range llm.Headers {
		header.Set(name, value.Reveal())
	}
	return header
}

// askTelegram requests the names of the bots.
func askTelegram(ctx context.Context, t config.Telegram) []finding {
	if !t.Enabled {
		return nil
	}
	transport := http.RoundTripper(http.DefaultTransport)
	if address, err := url.Parse(t.Proxy); err == nil && t.Proxy != "" {
		transport = &http.Transport{Proxy: http.ProxyURL(address)}
	}
	out := []finding{askBot(ctx, transport, t.BaseURL, "telegram", t.BotToken)}
	for _, name := range slices.Sorted(maps.Keys(t.Accounts)) {
		out = append(out, askBot(ctx, transport, t.BaseURL, "telegram@"+name, t.Accounts[name].BotToken))
	}
	return out
}

func askBot(ctx context.Context, via http.RoundTripper, root, name string, token config.Secret) finding {
	status, body, err := fetch(ctx, via, strings.TrimRight(root, "/")+"/bot"+token.Reveal()+"/getMe", nil)
	var who struct {
		Result struct{ Username string }
	}
	switch {
	case err != nil:
		return newFinding(name, markFail, root+" cannot be reached: "+err.Error(), "check the network, adapters.telegram.proxy and HTTPS_PROXY")
	case status == http.StatusUnauthorized || status == http.StatusNotFound:
		return newFinding(name, markRefused, fmt.Sprintf("the token is refused (%d)", status), "copy it again from @BotFather")
	case status != http.StatusOK || json.Unmarshal(body, &who) != nil:
		return newFinding(name, markWarn, fmt.Sprintf("%s answers %d now", root, status), "try again in a minute")
	}
	return newFinding(name, markOK, "the token is that of @"+oneLine(who.Result.Username, 64), "")
}

// fetch sends one GET request. Its error never contains the URL, which may contain a token.
func fetch(ctx context.Context, via http.RoundTripper, address string, header http.Header) (status int, body []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, onlineTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, nil, errors.New("that is no address")
	}
	maps.Copy(req.Header, header)
	client := http.Client{Transport: via, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if u, ok := errors.AsType[*url.Error](err); ok {
		return 0, nil, u.Err
	}
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }() // read as far as needed
	body, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	return resp.StatusCode, body, err
}

// onlineTimeout bounds one request to a service.
const onlineTimeout = 15 * time.Second

// feishuNeeds are the permissions that the app needs in the developer console. The service reports which scopes it
// has, but not which events.
const feishuNeeds = "scopes im:message, im:message.p2p_msg:readonly, im:message.group_at_msg:readonly, im:message:send_as_bot, im:resource, cardkit:card:write" +
	" (im:message.group_msg to hear groups without a mention, im:chat:readonly for platformAdmins); events im.message.receive_v1, im.message.recalled_v1" +
	" (im.chat.member.bot.added_v1, im.chat.member.bot.deleted_v1 and im.chat.disbanded_v1, with im:chat.members:bot_access, to be asked about groups at once); callback card.action.trigger"

// askFeishu lists every scope that the app lacks.
func askFeishu(ctx context.Context, s config.Settings) []finding {
	const name = "feishu"
	if !s.Adapters.Feishu.Enabled {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, onlineTimeout)
	defer cancel()
	needs, err := host.FeishuMissing(ctx, s)
	if errors.Is(err, feishu.ErrSecret) {
		return []finding{newFinding(name, markRefused, "the service refuses the app's id or secret", "copy App ID and App Secret again from the developer console, Credentials & Basic Info")}
	}
	if err != nil {
		return []finding{newFinding(name, markFail, "the service does not say what the app may: "+errText(err), "check adapters.feishu.appId, the app secret and the network")}
	}
	var out []finding
	for _, n := range needs {
		mark := markWarn
		if n.Must {
			mark = markFail
		}
		out = append(out, newFinding(name, mark, "the scope "+n.Scope()+" is missing: "+n.For, "developer console, Permissions & Scopes: add "+n.Scope()+", then publish a version"))
	}
	if len(out) == 0 {
		out = append(out, newFinding(name, markOK, "the app has every scope that it needs", ""))
	}
	return out
}

// checkFeishu checks the app's settings without contacting the service.
func checkFeishu(s config.Settings) []finding {
	const name = "feishu"
	f := s.Adapters.Feishu
	if !f.Enabled {
		return []finding{newFinding(name, markOK, "off", "")}
	}
	var out []finding
	if !regexp.MustCompile(`^cli_[A-Za-z0-9]{8,}$`).MatchString(f.AppID) {
		out = append(out, newFinding(name, markFail, "the app id has not the form cli_…", "copy it again from the developer console, Credentials & Basic Info"))
	}
	if s.LLM.Provider == config.ProviderDemo {
		out = append(out, newFinding(name, markFail, "Feishu is on, but the demo model answers on this machine only", "set OPENAI_API_KEY"))
	}
	if f.Access == config.AccessOpen {
		out = append(out, newFinding(name, markWarn, "everybody who finds the app may talk to it", "set adapters.feishu.access to paired"))
	}
	if f.Receive == "webhook" && f.VerificationToken.IsZero() {
		out = append(out, newFinding(name, markWarn, "the verification token of events is not checked", "set adapters.feishu.verificationToken"))
	}
	if len(out) == 0 {
		out = append(out, newFinding(name, markOK, "on, by "+f.Receive, ""))
	}
	return append(out, newFinding(name, markOK, "the app needs "+feishuNeeds, ""))
}
