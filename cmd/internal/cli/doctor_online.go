package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/platform/feishu"
	"github.com/shipmyagent/shipmyagent/cmd/internal/checkup"
	"github.com/shipmyagent/shipmyagent/cmd/internal/host"
	"github.com/shipmyagent/shipmyagent/config"
)

// askServices queries the services that the settings name: the model's API, Telegram and Feishu. The requests cost
// and change nothing.
func askServices(ctx context.Context, s config.Settings) []checkup.Finding {
	out := askModel(ctx, s.LLM)
	out = append(out, askTelegram(ctx, s.Adapters.Telegram)...)
	return append(out, askFeishu(ctx, s)...)
}

// askModel requests the list of models, which shows whether the key is valid.
func askModel(ctx context.Context, llm config.LLM) []checkup.Finding {
	const name = "model"
	if llm.Provider == config.ProviderDemo {
		return nil
	}
	status, body, err := checkup.Fetch(ctx, http.DefaultTransport, modelList(llm), modelHeader(llm))
	switch {
	case err != nil:
		return []checkup.Finding{checkup.New(name, checkup.Fail, llm.BaseURL+" cannot be reached: "+err.Error(), "check llm.baseUrl and the network")}
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return []checkup.Finding{checkup.New(name, checkup.Refused, fmt.Sprintf("%s refuses the key (%d)", llm.BaseURL, status), "check the key that sma config show --origin names as llm.apiKey")}
	case status >= http.StatusInternalServerError || status == http.StatusTooManyRequests:
		return []checkup.Finding{checkup.New(name, checkup.Warn, fmt.Sprintf("%s answers %d now", llm.BaseURL, status), "wait, or see the provider's own status page")}
	case status >= http.StatusMultipleChoices && status < http.StatusBadRequest:
		return []checkup.Finding{checkup.New(name, checkup.Fail, fmt.Sprintf("%s leads to another place (%d)", llm.BaseURL, status), "check llm.baseUrl; it usually ends in /v1")}
	case bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")):
		return []checkup.Finding{checkup.New(name, checkup.Fail, llm.BaseURL+" answered with a web page, not with a model's answer", "check llm.baseUrl; it usually ends in /v1")}
	case status != http.StatusOK:
		return []checkup.Finding{checkup.New(name, checkup.OK, fmt.Sprintf("%s answers, and has no list of models (%d)", llm.BaseURL, status), "if no answer comes, check llm.baseUrl; it usually ends in /v1")}
	}
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	switch err := json.Unmarshal(body, &list); {
	case err != nil || list.Data == nil:
		return []checkup.Finding{checkup.New(name, checkup.Warn, llm.BaseURL+" answered with something that is no list of models", "check llm.baseUrl; it usually ends in /v1")}
	case len(list.Data) == 0:
		return []checkup.Finding{checkup.New(name, checkup.OK, llm.BaseURL+" answers", "")}
	}
	for _, m := range list.Data {
		if m.ID == llm.Model {
			return []checkup.Finding{checkup.New(name, checkup.OK, llm.BaseURL+" takes the key and has "+llm.Model, "")}
		}
	}
	return []checkup.Finding{checkup.New(name, checkup.Warn, llm.BaseURL+" takes the key, but does not list "+llm.Model, "check llm.model; some services do not list all they have")}
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
func askTelegram(ctx context.Context, t config.Telegram) []checkup.Finding {
	if !t.Enabled {
		return nil
	}
	transport := http.RoundTripper(http.DefaultTransport)
	if address, err := url.Parse(t.Proxy); err == nil && t.Proxy != "" {
		transport = &http.Transport{Proxy: http.ProxyURL(address)}
	}
	out := []checkup.Finding{askBot(ctx, transport, t.BaseURL, "telegram", t.BotToken)}
	for _, name := range slices.Sorted(maps.Keys(t.Accounts)) {
		out = append(out, askBot(ctx, transport, t.BaseURL, "telegram@"+name, t.Accounts[name].BotToken))
	}
	return out
}

func askBot(ctx context.Context, via http.RoundTripper, root, name string, token config.Secret) checkup.Finding {
	status, body, err := checkup.Fetch(ctx, via, strings.TrimRight(root, "/")+"/bot"+token.Reveal()+"/getMe", nil)
	var who struct {
		Result struct{ Username string }
	}
	switch {
	case err != nil:
		return checkup.New(name, checkup.Fail, root+" cannot be reached: "+err.Error(), "check the network, adapters.telegram.proxy and HTTPS_PROXY")
	case status == http.StatusUnauthorized || status == http.StatusNotFound:
		return checkup.New(name, checkup.Refused, fmt.Sprintf("the token is refused (%d)", status), "copy it again from @BotFather")
	case status != http.StatusOK || json.Unmarshal(body, &who) != nil:
		return checkup.New(name, checkup.Warn, fmt.Sprintf("%s answers %d now", root, status), "try again in a minute")
	}
	return checkup.New(name, checkup.OK, "the token is that of @"+checkup.OneLine(who.Result.Username, 64), "")
}

// feishuNeeds are the permissions that the app needs in the developer console. The service reports which scopes it
// has, but not which events.
const feishuNeeds = "scopes im:message, im:message.p2p_msg:readonly, im:message.group_at_msg:readonly, im:message:send_as_bot, im:resource, cardkit:card:write" +
	" (im:message.group_msg to hear groups without a mention, im:chat:readonly for platformAdmins); events im.message.receive_v1, im.message.recalled_v1" +
	" (im.chat.member.bot.added_v1, im.chat.member.bot.deleted_v1 and im.chat.disbanded_v1, with im:chat.members:bot_access, to be asked about groups at once); callback card.action.trigger"

// askFeishu lists every scope that the app lacks.
func askFeishu(ctx context.Context, s config.Settings) []checkup.Finding {
	const name = "feishu"
	if !s.Adapters.Feishu.Enabled {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, checkup.FetchTimeout)
	defer cancel()
	needs, err := host.FeishuMissing(ctx, s)
	if errors.Is(err, feishu.ErrSecret) {
		return []checkup.Finding{checkup.New(name, checkup.Refused, "the service refuses the app's id or secret", "copy App ID and App Secret again from the developer console, Credentials & Basic Info")}
	}
	if err != nil {
		return []checkup.Finding{checkup.New(name, checkup.Fail, "the service does not say what the app may: "+checkup.ErrText(err), "check adapters.feishu.appId, the app secret and the network")}
	}
	var out []checkup.Finding
	for _, n := range needs {
		mark := checkup.Warn
		if n.Must {
			mark = checkup.Fail
		}
		out = append(out, checkup.New(name, mark, "the scope "+n.Scope()+" is missing: "+n.For, "developer console, Permissions & Scopes: add "+n.Scope()+", then publish a version"))
	}
	if len(out) == 0 {
		out = append(out, checkup.New(name, checkup.OK, "the app has every scope that it needs", ""))
	}
	return out
}

// checkFeishu checks the app's settings without contacting the service.
func checkFeishu(s config.Settings) []checkup.Finding {
	const name = "feishu"
	f := s.Adapters.Feishu
	if !f.Enabled {
		return []checkup.Finding{checkup.New(name, checkup.OK, "off", "")}
	}
	var out []checkup.Finding
	if !regexp.MustCompile(`^cli_[A-Za-z0-9]{8,}$`).MatchString(f.AppID) {
		out = append(out, checkup.New(name, checkup.Fail, "the app id has not the form cli_…", "copy it again from the developer console, Credentials & Basic Info"))
	}
	if s.LLM.Provider == config.ProviderDemo {
		out = append(out, checkup.New(name, checkup.Fail, "Feishu is on, but the demo model answers on this machine only", "set OPENAI_API_KEY"))
	}
	if f.Access == config.AccessOpen {
		out = append(out, checkup.New(name, checkup.Warn, "everybody who finds the app may talk to it", "set adapters.feishu.access to paired"))
	}
	if f.Receive == "webhook" && f.VerificationToken.IsZero() {
		out = append(out, checkup.New(name, checkup.Warn, "the verification token of events is not checked", "set adapters.feishu.verificationToken"))
	}
	if len(out) == 0 {
		out = append(out, checkup.New(name, checkup.OK, "on, by "+f.Receive, ""))
	}
	return append(out, checkup.New(name, checkup.OK, "the app needs "+feishuNeeds, ""))
}
