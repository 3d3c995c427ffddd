package telegramtest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func TestParseHTML(t *testing.T) {
	cases := []struct{ name, src, want, fails string }{
		{"text", "a &lt;b&gt; &amp;&quot;&#33; & &nbsp;", `a <b> &"! & &nbsp;`, ""},
		{"tags", `<b>a<i>b</i></b> <a href="https://x.y?a&amp;b">c</a><pre><code class="language-go">d</code></pre>`, "ab cd", ""},
		{"quote", "<blockquote expandable>a</blockquote>", "a", ""},
		{"unknown tag", "<p>a</p>", "", "Unsupported start tag"},
		{"not escaped", "a < b", "", "Unclosed start tag"},
		{"not closed", "<b>a", "", "Can't find end tag"},
		{"not opened", "a</b>", "", "Unexpected end tag"},
		{"crossed", "<b><i>a</b></i>", "", "Unmatched end tag"},
		{"bold in code", "<code><b>a</b></code>", "", "within"},
		{"quote in quote", "<blockquote><blockquote>a</blockquote></blockquote>", "", "within"},
		{"link that is dropped", `<a href="http://localhost/">a</a>`, "", "lose its address"},
		{"odd attribute", `<b onclick="x">a</b>`, "", "Bad attributes"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := telegramtest.ParseHTML(c.src)
			if got != c.want || (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

// post calls a method and returns the code and the answer.
func post(ctx context.Context, t *testing.T, root, method, body string) (int, map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, root+"/"+method, bytes.NewBufferString(body))
	stdtest.Must(t, err)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil
	}
	defer resp.Body.Close() //nolint:errcheck // it was only read
	var out map[string]any
	stdtest.Must(t, json.NewDecoder(resp.Body).Decode(&out))
	return resp.StatusCode, out
}

func TestAPIRefusesWhatTheRealOneRefuses(t *testing.T) {
	cases := []struct{ name, method, body, says string }{
		{"unknown method", "sendNothing", `{}`, "Not Found: method not found"},
		{"unknown chat", "sendMessage", `{"chat_id":9,"text":"x"}`, "chat not found"},
		{"empty", "sendMessage", `{"chat_id":1,"text":""}`, "message text is empty"},
		{"blank", "sendMessage", `{"chat_id":1,"text":" \u2800\u200b"}`, "text must be non-empty"},
		{"long markup", "sendMessage", `{"chat_id":1,"text":"` + strings.Repeat("<b>x</b>", 4097) + `","parse_mode":"HTML"}`, "text is too long"},
		{"too long", "sendMessage", `{"chat_id":1,"text":"` + strings.Repeat("😀", 2049) + `"}`, "message is too long"},
		{"bad markup", "sendMessage", `{"chat_id":1,"text":"<p>","parse_mode":"HTML"}`, "can't parse entities"},
		{"unknown mode", "sendMessage", `{"chat_id":1,"text":"x","parse_mode":"Fancy"}`, "unsupported parse_mode"},
		{"unknown topic", "sendMessage", `{"chat_id":-2,"text":"x","message_thread_id":8}`, "message thread not found"},
		{"general topic by id", "sendMessage", `{"chat_id":-2,"text":"x","message_thread_id":1}`, "message thread not found"},
		{"unknown reply", "sendMessage", `{"chat_id":1,"text":"x","reply_parameters":{"message_id":5}}`, "message to be replied not found"},
		{"unchanged edit", "editMessageText", `{"chat_id":1,"message_id":101,"text":"old"}`, "message is not modified"},
		{"unchanged buttons", "editMessageReplyMarkup", `{"chat_id":1,"message_id":101}`, "message is not modified"},
		{"edit of somebody's words", "editMessageText", `{"chat_id":1,"message_id":102,"text":"x"}`, "message can't be edited"},
		{"answer to no press", "answerCallbackQuery", `{"callback_query_id":"12345"}`, "query is too old"},
		{"no file", "sendDocument", `{"chat_id":1}`, "there is no document in the request"},
		{"odd action", "sendChatAction", `{"chat_id":1,"action":"thinking"}`, "wrong parameter action"},
		{"port of a webhook", "setWebhook", `{"url":"https://a.example:8080/x"}`, "only on ports"},
		{"edit of nothing", "editMessageText", `{"chat_id":1,"message_id":55,"text":"x"}`, "message to edit not found"},
		{"limit", "getUpdates", `{"limit":101,"allowed_updates":[]}`, "out of range"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			api := telegramtest.NewAPI(t)
			api.AddChat(telegramtest.Chat{ID: 1, Type: "private"})
			api.AddChat(telegramtest.Chat{ID: -2, Type: "supergroup", Forum: true, Topics: []int64{7}})
			root := api.URL() + "/bot" + api.Token()
			if code, _ := post(t.Context(), t, root, "sendMessage", `{"chat_id":1,"text":"old"}`); code != http.StatusOK {
				t.Fatalf("code %d", code)
			}
			api.Say(1, 1, "hello", nil)
			code, got := post(t.Context(), t, root, c.method, c.body)
			if says, _ := got["description"].(string); code == http.StatusOK || !strings.Contains(says, c.says) {
				t.Errorf("%d %v", code, got)
			}
		})
	}
}

func TestAPIRefusesAWrongToken(t *testing.T) {
	api := telegramtest.NewAPI(t)
	if code, _ := post(t.Context(), t, api.URL()+"/bot1:other", "getMe", `{}`); code != http.StatusUnauthorized {
		t.Errorf("code %d", code)
	}
}

func TestAPIEndsTheOlderPoller(t *testing.T) {
	api := telegramtest.NewAPI(t)
	root := api.URL() + "/bot" + api.Token()
	first := make(chan int, 1)
	go func() {
		code, _ := post(t.Context(), t, root, "getUpdates", `{"limit":1,"timeout":50,"allowed_updates":["message"]}`)
		first <- code
	}()
	api.AwaitPoller(t)
	if code, _ := post(t.Context(), t, root, "getUpdates", `{"limit":1,"allowed_updates":["message"]}`); code != http.StatusOK {
		t.Errorf("the newer poller got %d", code)
	}
	if code := <-first; code != http.StatusConflict {
		t.Errorf("the older poller got %d", code)
	}
}

func TestAPIHandsOutWhatWasAskedFor(t *testing.T) {
	api := telegramtest.NewAPI(t)
	api.AddChat(telegramtest.Chat{ID: 1, Type: "private"})
	root := api.URL() + "/bot" + api.Token()
	ids := func(body string) []float64 {
		t.Helper()
		_, got := post(t.Context(), t, root, "getUpdates", body)
		var out []float64
		list, _ := got["result"].([]any)
		for _, u := range list {
			id, _ := u.(map[string]any)["update_id"].(float64)
			out = append(out, id)
		}
		return out
	}
	ids(`{"limit":1,"allowed_updates":["message"]}`)
	api.Inject("poll", map[string]any{"id": "1"})
	api.Say(1, 1, "a", nil)
	api.Say(1, 1, "b", nil)
	want := [][]float64{{1001, 1002}, {1002}, {1001, 1002}, nil}
	got := [][]float64{
		ids(`{"limit":9,"allowed_updates":["message"]}`),
		ids(`{"limit":9,"offset":1002,"allowed_updates":["message"]}`),
	}
	api.Redeliver(1001)
	got = append(got, ids(`{"limit":9,"allowed_updates":["message"]}`), ids(`{"limit":9,"offset":1003,"allowed_updates":["message"]}`))
	stdtest.Diff(t, "", want, got)
}
