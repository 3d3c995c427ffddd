package host

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
	"github.com/shipmyagent/shipmyagent/adapters/speech/speechtest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// firstRequest is what a chat's first words have a model read: on the page where that is
// on, else on Telegram; and the host.
func firstRequest(t *testing.T, p *project, flags map[string]string) (*Host, model.Request) {
	t.Helper()
	script := modeltest.NewScript(modeltest.Say("hello"))
	if flags["adapters.web.enabled"] == "true" {
		h := p.start(t, Options{Model: script}, merged(map[string]string{"llm.model": "fake"}, flags))
		post(t, h, "c1", "hello")
		return h, script.Requests()[0]
	}
	all := telegramFlags(p)
	maps.Copy(all, flags)
	h := p.start(t, Options{Model: script}, all)
	p.api.Say(1, 1, "hello", nil)
	p.api.Await(t, "the answer", func() bool { return len(p.texts()) > 0 })
	return h, script.Requests()[0]
}

func offered(req model.Request) []string {
	var out []string
	for _, spec := range req.Tools {
		out = append(out, spec.Name)
	}
	return out
}

// sizes are the bytes of a request's tools and of its system text, as services get them.
func sizes(t *testing.T, req model.Request) (tools, system int) {
	t.Helper()
	encoded := func(v any) int {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		stdtest.Must(t, enc.Encode(v))
		return b.Len() - 1 // the line feed
	}
	list := []any{}
	for _, spec := range req.Tools {
		list = append(list, map[string]any{"type": "function", "function": map[string]any{
			"name": spec.Name, "description": spec.Description, "parameters": spec.InputSchema,
		}})
	}
	return encoded(list), encoded(req.System)
}

// Everybody pays for every byte of the tools and of the system text with every step of
// every chat. A tool that outgrows this has to be said in fewer words, or to replace
// another one.
func TestRequestsCarryLittle(t *testing.T) {
	for _, tt := range []struct {
		name          string
		project       func(t *testing.T, p *project)
		flags         map[string]string
		tools, system int // at most
	}{
		{"a plain project", nil, map[string]string{"adapters.telegram.egress": "direct"}, 6_500, 2_120},
		{"the page", nil, map[string]string{"adapters.web.enabled": "true"}, 6_740, 2_090},
		{"everything", func(t *testing.T, p *project) {
			t.Helper()
			speechSettings(t, p, speechtest.NewServer(t, nil), "")
			stdtest.Write(t, filepath.Join(p.dir, ".ship", "skills", "pdf", "SKILL.md"), skillText("pdf"))
		}, map[string]string{"adapters.telegram.egress": "tool"}, 9_500, 2_820},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newProject(t)
			if tt.project != nil {
				tt.project(t, p)
			}
			h, req := firstRequest(t, p, tt.flags)
			tools, system := sizes(t, req)
			t.Logf("%d tools of %d bytes, a system text of %d", len(req.Tools), tools, system)
			if tools > tt.tools || system > tt.system {
				t.Errorf("%d tools of %d bytes, a system text of %d; want at most %d and %d", len(req.Tools), tools, system, tt.tools, tt.system)
			}
			for _, spec := range req.Tools {
				if len(spec.Description) < 20 {
					t.Errorf("%s says too little: %q", spec.Name, spec.Description)
				}
				if bytes.Contains(spec.InputSchema, []byte(`"additionalProperties"`)) {
					t.Errorf("%s has keywords that a model does not need: %s", spec.Name, spec.InputSchema)
				}
				of, _ := h.tools.Find(spec.Name)
				strict(t, spec.Name, of.Spec().InputSchema)
			}
		})
	}
}

// strict requires that every object of a schema names all of its possible members.
func strict(t *testing.T, name string, schema json.RawMessage) {
	t.Helper()
	var s struct {
		Type       any
		Enum       []any
		Properties map[string]json.RawMessage
		Required   []string
		Additional *bool `json:"additionalProperties"`
		Items      json.RawMessage
	}
	if err := json.Unmarshal(schema, &s); err != nil || s.Type == nil {
		t.Errorf("%s: %v in %s, want a schema with a type", name, err, schema)
		return
	}
	if s.Type == "object" && (s.Additional == nil || *s.Additional) {
		t.Errorf("%s takes anything: %s", name, schema)
	}
	for _, member := range s.Required {
		if s.Properties[member] == nil {
			t.Errorf("%s requires %q, which it does not have", name, member)
		}
	}
	for member, of := range s.Properties {
		strict(t, name+"."+member, of)
	}
	if s.Items != nil {
		strict(t, name+"[]", s.Items)
	}
}

// Tools that cannot do anything are not offered: those for skills if there are none, those for contexts if they are
// off, and chat_send if the text is the answer. The offer depends only on the settings and the files of the project.
func TestOnlyToolsThatCanDoSomethingAreOffered(t *testing.T) {
	in := func(names []string, prefix string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, prefix) })
	}
	for _, tt := range []struct {
		name                   string
		skill                  bool
		flags                  map[string]string
		skills, contexts, send bool
		file                   bool // chat_send_file
	}{
		{"direct", false, map[string]string{"adapters.telegram.egress": "direct"}, false, true, false, false},
		{"by tool, with a skill", true, map[string]string{"adapters.telegram.egress": "tool"}, true, true, true, false},
		{"without contexts", false, map[string]string{"context.contexts.enabled": "false"}, false, false, true, false},
		{"the page", false, map[string]string{"adapters.web.enabled": "true"}, false, true, true, true},
		{"the page by tool", false, map[string]string{"adapters.web.enabled": "true", "adapters.web.egress": "tool"}, false, true, true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newProject(t)
			if tt.skill {
				stdtest.Write(t, filepath.Join(p.dir, ".ship", "skills", "pdf", "SKILL.md"), skillText("pdf"))
			}
			_, req := firstRequest(t, p, tt.flags)
			names := offered(req)
			for prefix, want := range map[string]bool{
				"skills_list": tt.skills, "skills_load": tt.skills, "chat_context_": tt.contexts, "chat_send": tt.send, "shell_": false, "task_cancel": false, "task_list": true,
				"stt_": false, "tts_": false, "memory_search": true, "exec_shell": true, "chat_send_file": tt.file,
			} {
				if got := in(names, prefix); got != want {
					t.Errorf("%s… offered: %v, want %v; there are %v", prefix, got, want, names)
				}
			}
			if got := strings.Contains(req.System, "skills_load"); got != tt.skills {
				t.Errorf("the system text speaks of skills_load: %v, want %v", got, tt.skills)
			}
		})
	}
}

// A skill that is added while a chat is in progress is offered from its next run on, with the tools to load it.
func TestSkillsBringTheirTools(t *testing.T) {
	p := newProject(t)
	script := modeltest.NewScript(modeltest.Say("one"), modeltest.Say("two"))
	flags := telegramFlags(p)
	flags["adapters.telegram.egress"] = "direct"
	h := p.start(t, Options{Model: script}, flags)
	p.api.Say(1, 1, "first", nil)
	p.api.Await(t, "the first answer", func() bool { return len(p.texts()) == 1 })
	stdtest.Write(t, filepath.Join(p.dir, ".ship", "skills", "pdf", "SKILL.md"), skillText("pdf"))
	h.skills.Refresh()
	p.api.Say(1, 1, "second", nil)
	p.api.Await(t, "the second answer", func() bool { return len(p.texts()) == 2 })
	before, after := script.Requests()[0], script.Requests()[1]
	if slices.Contains(offered(before), "skills_load") || !slices.Contains(offered(after), "skills_load") || !strings.Contains(after.System, "- pdf\n") {
		t.Errorf("offered %v, then %v; the system text then:\n%s", offered(before), offered(after), after.System)
	}
}

// Tools that read what has left a conversation are offered once something has left it: after a new context, which
// changes the requests anyway, and also after a restart. Otherwise the offer does not change.
func TestArchivesBringTheirTools(t *testing.T) {
	p := newProject(t)
	script := modeltest.NewScript(modeltest.Say("one"), modeltest.Say("two"), modeltest.Say("three"), modeltest.Say("four"))
	flags := telegramFlags(p)
	flags["adapters.telegram.egress"] = "direct"
	h := p.prepare(t, Options{Model: script}, flags)
	stdtest.Must(t, h.Start(t.Context()))
	said := 0
	say := func(text string) {
		t.Helper()
		said++
		p.api.Say(1, 1, text, nil)
		p.api.Await(t, "the answer to "+text, func() bool { return len(p.texts()) == said })
	}
	say("first")
	say("second")
	p.leave(t, h, 1)
	said++
	say("third")
	const broken = "sma_prompt_prefix_broken_total"
	stdtest.Diff(t, "broken prefixes by cause", map[string]float64{"context": 1, "tools": 1}, labelled(t, h, broken, "cause"))
	stdtest.Must(t, h.Stop(t.Context()))
	p.start(t, Options{Model: script}, flags)
	say("fourth")
	reading := []string{"agent_load_context", "chat_context_list", "chat_context_load", "chat_context_recall", "chat_history_search"}
	var first []string
	for i, req := range script.Requests() {
		names := offered(req)
		if i == 0 {
			first = names
		}
		without := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(reading, name) })
		if got := len(names) - len(without); !slices.Equal(without, first) || got != 0 && i < 2 || got != len(reading) && i >= 2 {
			t.Errorf("request %d: offered %v", i+1, names)
		}
	}
}

// Tools that change tasks are offered permanently from the step after the first task of a chat on, in that chat only.
// The next run begins with the same bytes, also after a restart.
func TestTasksBringTheirTools(t *testing.T) {
	p := newProject(t)
	p.api.AddChat(telegramtest.Chat{ID: 2, Type: "private"})
	script := modeltest.NewScript(
		modeltest.CallTools(modeltest.Call{ID: "c1", Name: "task_create", Input: `{"title":"tea","delay":"2h","say":"tea"}`}), modeltest.Say("one"),
		modeltest.Say("two"), modeltest.Say("three"), modeltest.Say("four"),
	)
	flags := telegramFlags(p)
	flags["adapters.telegram.egress"] = "direct"
	h := p.prepare(t, Options{Model: script}, flags)
	stdtest.Must(t, h.Start(t.Context()))
	said := 0
	say := func(chat int64) {
		t.Helper()
		said++
		p.api.Say(chat, chat, "a word", nil)
		p.api.Await(t, "an answer", func() bool { return len(p.api.Sent(1))+len(p.api.Sent(2)) == said })
	}
	say(1)
	say(1)
	say(2)
	stdtest.Must(t, h.Stop(t.Context()))
	p.start(t, Options{Model: script}, flags)
	say(1)
	reqs := script.Requests()
	for i, want := range []int{0, 3, 3, 0, 3} {
		names := offered(reqs[i])
		got := 0
		for _, name := range []string{"task_cancel", "task_run", "task_update"} {
			if slices.Contains(names, name) {
				got++
			}
		}
		if got != want || !slices.IsSorted(names) {
			t.Errorf("request %d: %d of what changes tasks is offered, want %d; offered %v", i+1, got, want, names)
		}
	}
	for _, i := range []int{2, 4} {
		stdtest.Diff(t, fmt.Sprintf("request %d begins otherwise than the second", i+1), reqs[1].Tools, reqs[i].Tools)
	}
}
