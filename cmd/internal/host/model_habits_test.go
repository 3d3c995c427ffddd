package host

import (
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishutest"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

// habit is one way in which services end an incomplete answer.
type habit struct {
	name    string
	answers []modeltest.Raw
	en, zh  string // what the person reads
	reason  string // stored with the message; empty: none
	asked   int    // requests in all
	stored  string // also stored; empty: nothing in particular
}

func habits() []habit {
	text, done := modeltest.Delta(`{"content":"Half an answer"}`, ""), "[DONE]"
	whole := modeltest.Events(modeltest.Delta(`{"content":"Whole."}`, ""), modeltest.Delta(`{}`, "stop"), done)
	usage := `{"id":"c1","object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":1,"total_tokens":10}}`
	end := func(delta, finish string) modeltest.Raw {
		return modeltest.Events(modeltest.Delta(delta, finish), done)
	}
	calls := `{"content":"I will look.","tool_calls":[{"index":0,"id":"c_1","type":"function","function":{"name":"memory_search","arguments":"{\"query\":\"x\"}"}}]}`
	incomplete := "This answer may be incomplete: my model did not say that it had finished."
	incompleteZH := "这个回答可能不完整：模型没有表明已经写完。"
	return []habit{
		{
			"length",
			[]modeltest.Raw{modeltest.Events(text, modeltest.Delta(`{}`, "length"), done)},
			"Half an answer\n\nThe answer was cut at its length limit. Ask me to go on, or for a shorter answer.",
			"Half an answer\n\n回答达到长度上限，被截断了。可以让我继续，或要求更简短的回答。", "length", 1, "",
		},
		{
			"length in the words of another provider",
			[]modeltest.Raw{modeltest.Events(text, modeltest.Delta(`{}`, "max_tokens"), done)},
			"Half an answer\n\nThe answer was cut at its length limit. Ask me to go on, or for a shorter answer.",
			"Half an answer\n\n回答达到长度上限，被截断了。可以让我继续，或要求更简短的回答。", "length", 1, "",
		},
		{
			"length with a call",
			[]modeltest.Raw{end(calls, "length")},
			"I will look.\n\nThe answer was cut at its length limit. Ask me to go on, or for a shorter answer. What it was about to do has not been done.",
			"I will look.\n\n回答达到长度上限，被截断了。可以让我继续，或要求更简短的回答。它准备执行的操作没有执行。", "length", 1, "never begun: the answer with this call was cut off",
		},
		{
			"length within reasoning",
			[]modeltest.Raw{end(`{"reasoning_content":"hm"}`, "length")},
			"There is no answer: my model reached its length limit before it had written one. Please ask for something shorter; the operator can raise the limit (llm.maxOutputTokens).",
			"没有得到回答：模型还没写出答案就达到了长度上限。请把问题缩小一些；管理员可以提高上限（llm.maxOutputTokens）。", "length", 1, "",
		},
		{
			"content filter",
			[]modeltest.Raw{end(`{}`, "content_filter")},
			"My model refused to answer this.", "模型拒绝回答这个内容。", "filtered", 1, "",
		},
		{
			"content filter within the text",
			[]modeltest.Raw{modeltest.Events(text, modeltest.Delta(`{}`, "content_filter"), done)},
			"Half an answer\n\nThe answer ends here: the service of my model stopped it because of its content.",
			"Half an answer\n\n回答到此为止：模型服务因内容原因中止了它。", "filtered", 1, "",
		},
		{
			"refusal",
			[]modeltest.Raw{modeltest.Events(modeltest.Delta(`{"refusal":"I cannot "}`, ""), modeltest.Delta(`{"refusal":"help with that."}`, ""), modeltest.Delta(`{}`, "stop"), done)},
			"I cannot help with that.", "I cannot help with that.", "refused", 1, "",
		},
		{"empty, then whole", []modeltest.Raw{end(`{"content":""}`, "stop"), whole}, "Whole.", "Whole.", "", 2, ""},
		{
			"empty twice",
			[]modeltest.Raw{end(`{"content":" \n"}`, "stop")},
			"There is no answer: my model sent an empty one twice. Please ask again, perhaps in other words.",
			"没有得到回答：模型两次都返回了空内容。请再试一次，或换个说法。", "empty", 2, "",
		},
		{
			"nothing but the end",
			[]modeltest.Raw{modeltest.Events(done)},
			"There is no answer: my model sent an empty one twice. Please ask again, perhaps in other words.",
			"没有得到回答：模型两次都返回了空内容。请再试一次，或换个说法。", "empty", 2, "",
		},
		{
			"reasoning alone",
			[]modeltest.Raw{end(`{"reasoning_content":"hm"}`, "stop")},
			"There is no answer: my model thought about this twice and wrote none. Please ask again, perhaps in other words.",
			"没有得到回答：模型思考了两次，都没有写出答案。请再试一次，或换个说法。", "reasoning_only", 2, "",
		},
		{
			"nothing to see",
			[]modeltest.Raw{end(`{"content":"\u200b\ufeff"}`, "stop")},
			"There is no answer: my model sent an empty one twice. Please ask again, perhaps in other words.",
			"没有得到回答：模型两次都返回了空内容。请再试一次，或换个说法。", "empty", 2, "",
		},
		{
			"refusal among parts",
			[]modeltest.Raw{end(`{"content":[{"type":"refusal","refusal":"I cannot help with that."}]}`, "stop")},
			"I cannot help with that.", "I cannot help with that.", "refused", 1, "",
		},
		{"parts of another kind", []modeltest.Raw{end(`{"content":[{"type":"output_text","text":"Whole."}]}`, "stop")}, "Whole.", "Whole.", "", 1, ""},
		{
			"a whole message without a finish reason",
			[]modeltest.Raw{{Type: "application/json", Body: `{"id":"1","choices":[{"index":0,"message":{"role":"assistant","content":"Half an answer"}}]}`}},
			"Half an answer\n\n" + incomplete, "Half an answer\n\n" + incompleteZH, "unfinished", 1, "",
		},
		{
			"a call without a name, then whole",
			[]modeltest.Raw{end(`{"tool_calls":[{"index":0,"id":"c_1","function":{"name":"","arguments":"{}"}}]}`, "tool_calls"), whole},
			"Whole.", "Whole.", "", 2, "",
		},
		{
			"an error as the body of a stream",
			[]modeltest.Raw{{Body: `{"error":{"message":"no such key","type":"authentication_error"}}`}},
			"I cannot reach my model: its key was refused. The operator has to set a valid key (llm.apiKey).",
			"无法使用模型：密钥被拒绝。请管理员设置有效的密钥（llm.apiKey）。", "auth", 1, "",
		},
		{"reasoning alone, then whole", []modeltest.Raw{end(`{"reasoning_content":"hm"}`, "stop"), whole}, "Whole.", "Whole.", "", 2, ""},
		{
			"no finish reason, [DONE]",
			[]modeltest.Raw{modeltest.Events(text, done)},
			"Half an answer\n\n" + incomplete, "Half an answer\n\n" + incompleteZH, "unfinished", 1, "",
		},
		{
			"no finish reason, usage",
			[]modeltest.Raw{modeltest.Events(text, usage)},
			"Half an answer\n\n" + incomplete, "Half an answer\n\n" + incompleteZH, "unfinished", 1, "",
		},
		{
			"no finish reason, with a call",
			[]modeltest.Raw{end(calls, "")},
			"I will look.\n\n" + incomplete + " What it was about to do has not been done.",
			"I will look.\n\n" + incompleteZH + "它准备执行的操作没有执行。", "unfinished", 2, "never begun: the answer with this call was cut off",
		},
		{"no finish reason, with a call, then whole", []modeltest.Raw{end(calls, ""), whole}, "Whole.", "Whole.", "", 2, ""},
	}
}

// Whatever the service does, the person reads a true statement in their language, with both values of
// egress, and the reason is stored with the message.
func TestHabitsOfModels(t *testing.T) {
	for _, h := range habits() {
		for _, egress := range []string{"direct", "tool"} {
			for lang, hello := range map[string]string{"en": "hi", "zh": "你好"} {
				t.Run(h.name+"/"+egress+"/"+lang, func(t *testing.T) {
					t.Parallel()
					want := h.en
					if lang == "zh" {
						want = h.zh
					}
					h.check(t, egress, hello, want)
				})
			}
		}
	}
}

func (h habit) check(t *testing.T, egress, hello, want string) {
	t.Helper()
	server := modeltest.NewRawServer(h.answers...)
	t.Cleanup(server.Close)
	p := newProject(t)
	flags := telegramFlags(p)
	flags["llm.baseUrl"], flags["adapters.telegram.egress"] = server.URL, egress
	p.start(t, Options{}, flags)
	p.api.Say(1, 1, hello, nil)
	p.api.Await(t, "an answer", func() bool { return len(p.api.Sent(1)) > 0 })
	if got := p.api.Sent(1)[0].Text; got != want {
		t.Errorf("the person reads %q, want %q", got, want)
	}
	if n := len(server.Requests()); n != h.asked {
		t.Errorf("the model was asked %d times, want %d", n, h.asked)
	}
	if first, last := server.Requests()[0].Body, server.Requests()[h.asked-1].Body; first != last {
		t.Errorf("the second request is another one:\n%s\n%s", first, last)
	}
	history := allText(t, filepath.Join(p.dir, ".ship", "chat"))
	if h.reason != "" && !strings.Contains(history, `"reason":"`+h.reason+`"`) {
		t.Errorf("the history does not say %q:\n%s", h.reason, history)
	}
	if !strings.Contains(history, h.stored) {
		t.Errorf("the history lacks %q:\n%s", h.stored, history)
	}
}

// allText returns the contents of all files in a folder.
func allText(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		b.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A model that accepts and says nothing, with or without comments, is given up after
// llm.firstByteS, and the fallback answers. From then on it is skipped, which /status and
// the metrics say, until it answers again.
func TestSilentModelIsSkipped(t *testing.T) {
	whole := modeltest.Events(modeltest.Delta(`{"content":"From the other."}`, ""), modeltest.Delta(`{}`, "stop"), "[DONE]")
	for name, silent := range map[string]modeltest.Raw{
		"no headers": {Hold: true, NoHeaders: true},
		"comments":   {Hold: true, Ping: 20 * time.Millisecond},
		"a role, and comments": {
			Hold: true, Ping: 20 * time.Millisecond, Body: "data: " + modeltest.Delta(`{"role":"assistant","content":""}`, "") + "\n\n",
		},
	} {
		for lang, want := range map[string]string{
			"hi": "silent: not asked for the next ", "你好": "silent：接下来 ",
		} {
			t.Run(name+"/"+lang, func(t *testing.T) {
				t.Parallel()
				first, second := modeltest.NewRawServer(silent), modeltest.NewRawServer(whole)
				t.Cleanup(first.Close)
				t.Cleanup(second.Close)
				p := newProject(t)
				flags := telegramFlags(p)
				flags["llm.baseUrl"], flags["llm.model"], flags["llm.firstByteS"] = first.URL, "silent", "1"
				flags["llm.fallbacks"] = `[{"provider": "custom", "model": "other", "baseUrl": "` + second.URL + `"}]`
				h := p.start(t, Options{}, flags)
				p.api.Say(1, 1, lang, nil)
				p.api.Await(t, "an answer", func() bool { return len(p.api.Sent(1)) == 1 })
				p.api.Say(1, 1, lang, nil)
				p.api.Await(t, "another answer", func() bool { return len(p.api.Sent(1)) == 2 })
				if n := len(first.Requests()); n != 1 || p.api.Sent(1)[1].Text != "From the other." {
					t.Errorf("the silent model was asked %d times: %q", n, p.api.Sent(1)[1].Text)
				}
				p.api.Say(1, 1, "/status", nil)
				p.api.Await(t, "the status", func() bool { return len(p.api.Sent(1)) == 3 })
				if got := p.api.Sent(1)[2].Text; !strings.Contains(got, want) {
					t.Errorf("/status says %q, want %q in it", got, want)
				}
				if s := h.Status(t.Context()); len(s.Models) != 2 || s.Models[0].SkippedS == 0 || s.Models[0].Reason != "idle" || s.Models[1].SkippedS != 0 {
					t.Errorf("the status says %+v", s.Models)
				}
				if got := labelled(t, h, "sma_model_skipped", "model"); got["silent"] != 1 || got["other"] != 0 {
					t.Errorf("the metric says %v", got)
				}
			})
		}
	}
}

// A wrong address is named to the operator after one request, and the person reads
// what is wrong.
func TestWrongAddressIsNamed(t *testing.T) {
	for lang, want := range map[string]string{
		"hi": "I cannot reach my model: something else answers at its address. The operator has to check llm.baseUrl, which usually ends in /v1.",
		"你好": "无法使用模型：它的地址上不是模型服务。请管理员检查 llm.baseUrl，它通常以 /v1 结尾。",
	} {
		for name, raw := range map[string]modeltest.Raw{
			"a web page": {Type: "text/html; charset=utf-8", Body: "<!doctype html><title>Welcome</title>"}, "JSON of another kind": {Type: "application/json", Body: `{"status":"ok"}`},
		} {
			t.Run(name+"/"+lang, func(t *testing.T) {
				t.Parallel()
				server := modeltest.NewRawServer(raw)
				t.Cleanup(server.Close)
				p := newProject(t)
				flags := telegramFlags(p)
				flags["llm.baseUrl"] = server.URL
				p.start(t, Options{}, flags)
				p.api.Say(1, 1, lang, nil)
				p.api.Await(t, "an answer", func() bool { return len(p.api.Sent(1)) == 1 })
				if got := p.api.Sent(1)[0].Text; got != want || len(server.Requests()) != 1 {
					t.Errorf("after %d requests the person reads %q, want %q", len(server.Requests()), got, want)
				}
				named := "The address " + server.URL + " answered with " + name + ", not with a model's answer. Check llm.baseUrl; it usually ends in /v1."
				if !strings.Contains(p.log.String(), named) {
					t.Errorf("the log lacks %q", named)
				}
			})
		}
	}
}

// A model without tools answers people in both ways out of a chat: one that the settings
// name is never offered any, one that refuses them is found out.
func TestModelWithoutToolsAnswers(t *testing.T) {
	refusal := modeltest.Raw{Status: 400, Type: "application/json", Body: `{"error":{"message":"fake does not support tools"}}`}
	whole := modeltest.Events(modeltest.Delta(`{"content":"Just words."}`, ""), modeltest.Delta(`{}`, "stop"), "[DONE]")
	for _, egress := range []string{"direct", "tool"} {
		for setting, asked := range map[string]int{"true": 3, "false": 2} {
			t.Run(egress+"/"+setting, func(t *testing.T) {
				t.Parallel()
				server := modeltest.NewRawServer(whole)
				if setting == "true" {
					server.Play(refusal, whole)
				}
				t.Cleanup(server.Close)
				p := newProject(t)
				flags := telegramFlags(p)
				flags["llm.baseUrl"], flags["llm.tools"], flags["adapters.telegram.egress"] = server.URL, setting, egress
				h := p.start(t, Options{}, flags)
				for n := 1; n <= 2; n++ {
					p.api.Say(1, 1, "hi", nil)
					p.api.Await(t, "an answer", func() bool { return len(p.api.Sent(1)) == n })
				}
				requests := server.Requests()
				if len(requests) != asked || strings.Contains(requests[asked-1].Body, `"tools":`) || p.api.Sent(1)[1].Text != "Just words." {
					t.Errorf("%d requests, the last %s", len(requests), requests[len(requests)-1].Body)
				}
				if s := h.Status(t.Context()); len(s.Models) != 1 || !s.Models[0].NoTools {
					t.Errorf("the status says %+v", s.Models)
				}
			})
		}
	}
}

// A chosen effort that the service refuses does not cost the answer. The status says that it is not used.
func TestRefusedEffortOfAChat(t *testing.T) {
	refusal := modeltest.Raw{Status: 400, Type: "application/json", Body: `{"error":{"message":"Unsupported parameter: 'reasoning_effort' is not supported with this model."}}`}
	whole := modeltest.Events(modeltest.Delta(`{"content":"Just words."}`, ""), modeltest.Delta(`{}`, "stop"), "[DONE]")
	server := modeltest.NewRawServer(refusal, whole)
	t.Cleanup(server.Close)
	p := newProject(t)
	flags := telegramFlags(p)
	flags["llm.baseUrl"], flags["llm.model"], flags["adapters.telegram.egress"] = server.URL, "gpt-oss-20b", "direct"
	h := p.start(t, Options{}, flags)
	for _, step := range []struct{ say, want string }{
		{"/model", "The model here is main (gpt-oss-20b). Choose another with /model NAME, and how much it thinks with /model NAME EFFORT:\n\nmain (gpt-oss-20b): low, medium, high"},
		{"/model high", "From now on, main (gpt-oss-20b, effort high) answers here."},
		{"hi", "Just words."},
		{"still there?", "Just words."},
		{"/status", "gpt-oss-20b: its service refuses the effort high, so it thinks as by default"},
		{"/model high", "From now on, main (gpt-oss-20b, effort high) answers here. Its service has refused this effort, so it thinks as by default."},
	} {
		n := len(p.api.Sent(1))
		p.api.Say(1, 1, step.say, nil)
		p.api.Await(t, "an answer", func() bool { return len(p.api.Sent(1)) > n })
		if got := p.api.Sent(1)[n].Text; !strings.Contains(got, step.want) {
			t.Errorf("%q was answered %q, want %q", step.say, got, step.want)
		}
	}
	var asked []bool
	for _, r := range server.Requests() {
		asked = append(asked, strings.Contains(r.Body, `"reasoning_effort":"high"`))
	}
	if want := []bool{true, false, false}; !slices.Equal(asked, want) {
		t.Errorf("asked with the effort: %v, want %v", asked, want)
	}
	if s := h.Status(t.Context()); len(s.Models) != 1 || s.Models[0].RefusedEfforts != "high" {
		t.Errorf("the status says %+v", s.Models)
	}
}

// Reasoning between tags is not shown as the answer, also if the template of the prompt has opened it. It is stored as
// reasoning.
func TestReasoningTagsOfTheSettings(t *testing.T) {
	for _, answer := range [][2]string{{"<thi", "nk>secret plan</think>The answer."}, {"secret", " plan</think>The answer."}} {
		server := modeltest.NewRawServer(modeltest.Events(modeltest.Delta(`{"content":"`+answer[0]+`"}`, ""), modeltest.Delta(`{"content":"`+answer[1]+`"}`, ""), modeltest.Delta(`{}`, "stop"), "[DONE]"))
		t.Cleanup(server.Close)
		for _, egress := range []string{"direct", "tool"} {
			t.Run(answer[0]+" "+egress, func(t *testing.T) {
				p := newProject(t)
				flags := telegramFlags(p)
				flags["llm.baseUrl"], flags["llm.reasoningTags"], flags["adapters.telegram.egress"] = server.URL, "think", egress
				p.start(t, Options{}, flags)
				p.api.Say(1, 1, "hi", nil)
				p.api.Await(t, "an answer", func() bool { return len(p.api.Sent(1)) == 1 })
				if got := p.api.Sent(1)[0].Text; got != "The answer." {
					t.Errorf("the person reads %q", got)
				}
				if history := allText(t, filepath.Join(p.dir, ".ship", "chat")); !strings.Contains(history, `"type":"reasoning"`) || !strings.Contains(history, "secret plan") {
					t.Errorf("the reasoning is not kept: %s", history)
				}
			})
		}
	}
}

// What a model thinks is kept in the history and sent to no person, whatever it ends with and on every platform.
func TestThinkingIsNotSentToPeople(t *testing.T) {
	for _, egress := range []string{"direct", "tool"} {
		t.Run(egress, func(t *testing.T) {
			api := feishutest.NewAPI(t)
			api.AddChat("oc_1", "p2p")
			thinking := func(calls ...modeltest.Call) modeltest.Step {
				return modeltest.Step{Reasoning: []string{"a hidden ", "plan"}, Calls: calls}
			}
			last := thinking()
			last.Text = []string{"The answer."}
			thinker := modeltest.NewFunc(func(req model.Request) []model.Event {
				step := last
				if req.Messages[len(req.Messages)-1].Role == modelmessage.RoleUser {
					step = thinking(modeltest.Call{ID: "c", Name: "nothing", Input: "{}"})
				}
				events := append(modeltest.ReasoningEvents(step.Reasoning...), modeltest.TextEvents(step.Text...)...)
				if len(step.Calls) > 0 {
					return append(append(events, modeltest.CallEvents(step.Calls...)...), modeltest.Finish("tool-calls"))
				}
				return append(events, modeltest.Finish("stop"))
			})
			p := newProject(t)
			write(t, filepath.Join(p.dir, ".env"), "SMA_ADAPTERS_FEISHU_APP_SECRET="+api.Secret()+"\n")
			flags := telegramFlags(p)
			maps.Copy(flags, feishuFlags(api, "connection"))
			flags["adapters.telegram.enabled"], flags["adapters.telegram.egress"], flags["adapters.feishu.egress"] = "true", egress, egress
			p.start(t, Options{Model: thinker}, flags)
			p.api.Say(1, 1, "hi", nil)
			p.api.Await(t, "an answer", func() bool { return len(p.api.Sent(1)) > 0 })
			api.Say("oc_1", "ou_1", "hi", nil)
			api.Await(t, "an answer", func() bool { sent := api.Sent("oc_1"); return len(sent) > 0 && !sent[len(sent)-1].Streaming })
			if all := fmt.Sprint(p.api.Calls(""), api.Calls("")); strings.Contains(all, "hidden") || !strings.Contains(all, "The answer.") {
				t.Errorf("people were sent %s", all)
			}
			for _, chat := range []string{"telegram-chat-1", "feishu-chat-oc_1"} {
				if history := allText(t, filepath.Join(p.dir, ".ship", "chat", chat)); strings.Count(history, "a hidden plan") < 2 {
					t.Errorf("the thinking in %s is not kept: %s", chat, history)
				}
			}
		})
	}
}

// A system text above its share is reported at the start, and chats are not compacted
// for it.
func TestLargeSystemTextIsReported(t *testing.T) {
	p := newProject(t)
	write(t, filepath.Join(p.dir, "Agent.md"), "# Ada\n\n"+strings.Repeat("Be kind to people who ask. ", 4000))
	whole := modeltest.Say("Fine.")
	script := modeltest.NewScript()
	script.Otherwise = &whole
	p.start(t, Options{Model: script}, telegramFlags(p))
	for n := 1; n <= 12; n++ {
		p.api.Say(1, 1, "hi", nil)
		p.api.Await(t, "an answer", func() bool { return len(p.api.Sent(1)) == n })
	}
	if n := len(script.Requests()); n != 12 {
		t.Errorf("%d requests for 12 messages: the chat was compacted in vain", n)
	}
	if n := strings.Count(p.log.String(), "the system text takes more than its share"); n != 1 {
		t.Errorf("reported %d times", n)
	}
}

// A changed Agent.md and a changed profile are counted as what they are.
func TestPrefixCausesOfDocuments(t *testing.T) {
	p := newProject(t)
	fine := modeltest.Say("Fine.")
	script := modeltest.NewScript()
	script.Otherwise = &fine
	h := p.start(t, Options{Model: script}, telegramFlags(p))
	say := func(n int) {
		t.Helper()
		p.api.Say(1, 1, "hi", nil)
		p.api.Await(t, "an answer", func() bool { return len(p.api.Sent(1)) == n })
	}
	say(1)
	write(t, filepath.Join(p.dir, "Agent.md"), "# Ada\n\nVery kind.")
	write(t, filepath.Join(p.dir, ".ship", "profile", "Primary.md"), "The owner is Bob.")
	h.docs.Reload()
	say(2)
	say(3)
	got := labelled(t, h, "sma_prompt_prefix_broken_total", "cause")
	if got["agent"] != 1 || got["profile"] != 1 {
		t.Errorf("counted %v", got)
	}
	requests := script.Requests()
	if system := requests[len(requests)-1].System; !strings.HasPrefix(system, "<agent>") || strings.Index(system, "<manners>") > strings.Index(system, "<profile>") {
		t.Errorf("what changes least does not come first:\n%.300s", system)
	}
}

// labelled returns the values of a metric by one of its labels.
func labelled(t *testing.T, h *Host, name, label string) map[string]float64 {
	t.Helper()
	families, err := h.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if f.GetName() == name && l.GetName() == label {
					out[l.GetValue()] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
				}
			}
		}
	}
	return out
}

// The page and its clients read the same words, in both ways out of a chat.
func TestHabitsOnTheWeb(t *testing.T) {
	for _, egress := range []string{"direct", "tool"} {
		for hello, want := range map[string]string{"hi": "The answer was cut at its length limit.", "你好": "回答达到长度上限，被截断了。"} {
			t.Run(egress+"/"+hello, func(t *testing.T) {
				t.Parallel()
				cut := modeltest.Events(modeltest.Delta(`{"content":"Half an answer"}`, ""), modeltest.Delta(`{}`, "length"), "[DONE]")
				cut.After = time.Second // the client reads along by then
				server := modeltest.NewRawServer(cut)
				t.Cleanup(server.Close)
				p := newProject(t)
				h := p.start(t, Options{}, map[string]string{"llm.model": "m", "llm.baseUrl": server.URL, "adapters.web.egress": egress})
				body := `{"id":"c1","messages":[{"id":"m1","role":"user","parts":[{"type":"text","text":"` + hello + `"}]}],"trigger":"submit-message"}`
				_, _, text := request(t, http.MethodPost, h.webAddr+"/api/chat", h.login.token.Reveal(), body)
				for _, part := range []string{"Half an answe", want, `"finishReason":"length"`} {
					if !strings.Contains(text, part) {
						t.Errorf("the stream lacks %q:\n%s", part, text)
					}
				}
			})
		}
	}
}
