package checkup

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/config/catalog"
)

// AskModel requests the list of models, which shows whether the key is valid.
func AskModel(ctx context.Context, llm config.LLM) []Finding {
	const name = "model"
	if llm.Provider == config.ProviderDemo {
		return nil
	}
	status, body, err := Fetch(ctx, http.DefaultTransport, modelList(llm), modelHeader(llm))
	switch {
	case err != nil:
		return []Finding{New(name, Fail, llm.BaseURL+" cannot be reached: "+err.Error(), cmp.Or(ConnectionFix(err.Error()), "check llm.baseUrl and the network"))}
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return []Finding{New(name, Refused, fmt.Sprintf("%s refuses the key (%d)", llm.BaseURL, status), "check the key that sma config show --origin names as llm.apiKey")}
	case status >= http.StatusInternalServerError || status == http.StatusTooManyRequests:
		return []Finding{New(name, Warn, fmt.Sprintf("%s answers %d now", llm.BaseURL, status), "wait, or see the provider's own status page")}
	case status >= http.StatusMultipleChoices && status < http.StatusBadRequest:
		return []Finding{New(name, Fail, fmt.Sprintf("%s leads to another place (%d)", llm.BaseURL, status), "check llm.baseUrl; it usually ends in /v1")}
	case bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")):
		return []Finding{New(name, Fail, llm.BaseURL+" answered with a web page, not with a model's answer", "check llm.baseUrl; it usually ends in /v1")}
	case status != http.StatusOK:
		return []Finding{New(name, OK, fmt.Sprintf("%s answers, and has no list of models (%d)", llm.BaseURL, status), "if no answer comes, check llm.baseUrl; it usually ends in /v1")}
	}
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	switch err := json.Unmarshal(body, &list); {
	case err != nil || list.Data == nil:
		return []Finding{New(name, Warn, llm.BaseURL+" answered with something that is not a list of models", "check llm.baseUrl; it usually ends in /v1")}
	case len(list.Data) == 0:
		return []Finding{New(name, OK, llm.BaseURL+" answers", "")}
	}
	for _, m := range list.Data {
		if m.ID == llm.Model {
			return []Finding{New(name, OK, llm.BaseURL+" takes the key and has "+llm.Model, "")}
		}
	}
	return []Finding{New(name, Warn, llm.BaseURL+" takes the key, but does not list "+llm.Model, "check llm.model; some services do not list all they have")}
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
	if llm.Main().Protocol() == catalog.Messages {
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
