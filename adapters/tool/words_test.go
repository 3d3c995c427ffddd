package tool_test

import (
	"encoding/json"
	"flag"
	"maps"
	"os"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

var update = flag.Bool("update", false, "write the golden file anew")

type values = map[string]any

// asked are all requests that tools make, with what they mention.
func asked(t *testing.T) []struct {
	kind  string
	about values
} {
	t.Helper()
	berlin, err := time.LoadLocation("Europe/Berlin")
	stdtest.Must(t, err)
	at := time.Date(2026, 3, 28, 9, 30, 0, 0, berlin)
	command := func(change values) values {
		out := values{"Background": false, "Sandbox": true, "Network": false, "Folder": "", "Why": "", "Scripts": "", "Limit": time.Minute}
		maps.Copy(out, change)
		return out
	}
	typing := func(text, enter, eof bool) values {
		return values{"ID": "p1", "Command": "python3 -i", "Why": "", "Text": text, "Enter": enter, "EOF": eof}
	}
	file := func(change values) values {
		out := values{
			"New": false, "Steers": false, "Binary": false, "Path": "notes/plan.md", "Behaviour": "", "Hidden": "", "Sum": "",
			"Before": int64(18), "After": int64(21), "Folders": 0,
		}
		maps.Copy(out, change)
		return out
	}
	task := func(say bool, cron string, next ...time.Time) values {
		return values{"Say": say, "Title": "Tea", "Cron": cron, "When": at, "Next": next}
	}
	skill := values{"Changed": false, "Name": "pdf", "Folder": ".ship/skills/pdf", "Files": 1, "TextBytes": int64(53), "Tools": []string{}, "Tokens": 0}
	changed := values{"Changed": true, "Name": "pdf", "Folder": ".ship/skills/pdf", "Files": 3, "TextBytes": int64(20_480), "Tools": []string{"read_file", "exec_shell"}, "Tokens": 12_000}
	server := func(values_, reads, destroys bool) values {
		return values{"Title": "Find files", "Tool": "find", "Server": "docs", "Values": values_, "Reads": reads, "Destroys": destroys}
	}
	return []struct {
		kind  string
		about values
	}{
		{"exec_shell", command(nil)},
		{"exec_shell", command(values{"Folder": "docs", "Background": true, "Network": true, "Limit": 90 * time.Minute, "Why": "to look “around”", "Scripts": "run.sh, build.sh"})},
		{"exec_shell", command(values{"Sandbox": false, "Limit": 5 * time.Second, "Why": "to count the lines"})},
		{"shell_write", typing(true, true, false)},
		{"shell_write", typing(true, false, true)},
		{"shell_write", typing(false, true, false)},
		{"shell_write", typing(false, false, true)},
		{"write_file", file(values{"New": true, "After": int64(3), "Folders": 2})},
		{"write_file", file(values{"New": true, "After": int64(0)})},
		{"write_file", file(nil)},
		{"write_file", file(values{"Behaviour": "agent", "After": int64(40_000)})},
		{"write_file", file(values{"Behaviour": "skill"})},
		{"write_file", file(values{"Behaviour": "task", "Hidden": "tasks", "Sum": "ab12"})},
		{"write_file", file(values{"Behaviour": "profile"})},
		{"write_file", file(values{"Behaviour": "memory"})},
		{"write_file", file(values{"Steers": true, "Binary": true, "Sum": "ab12"})},
		{"web_fetch", values{"Host": "example.org", "Long": false}},
		{"web_fetch", values{"Host": "example.org", "Long": true}},
		{"task_create", task(true, "")},
		{"task_create", task(false, "")},
		{"task_create", task(true, "30 9 * * 1-5", at, at.AddDate(0, 0, 2), at.AddDate(0, 0, 3))},
		{"task_create", task(false, "30 9 * * 1-5", at, at.AddDate(0, 0, 2), at.AddDate(0, 0, 3))},
		{"task_create", task(false, "*/5 * * * *", at)},
		{"task_update", values{"Was": "Tea", "Title": "", "Say": true, "Paused": false, "Cron": "", "When": at, "Next": []time.Time{at}}},
		{"task_update", values{"Was": "Tea", "Title": "Coffee", "Say": false, "Paused": true, "Cron": "30 9 * * 1-5", "When": at, "Next": []time.Time(nil)}},
		{"task_run", values{"Title": "Tea", "Say": true}},
		{"task_run", values{"Title": "Tea", "Say": false}},
		{"memory_upsert", values{"Scope": "chat", "Other": ""}},
		{"memory_upsert", values{"Scope": "project", "Other": ""}},
		{"memory_upsert", values{"Scope": "user", "Other": ""}},
		{"memory_upsert", values{"Scope": "user", "Other": "42"}},
		{"chat_contact_send", values{"Chat": "telegram-chat-42", "Name": ""}},
		{"chat_contact_send", values{"Chat": "telegram-chat--5", "Name": "The “Team”"}},
		{"chat_send", values{"Files": 1}},
		{"chat_send", values{"Files": 3}},
		{"skills_load", skill},
		{"skills_load", changed},
		{"mcp", server(true, false, false)},
		{"mcp", server(false, true, false)},
		{"mcp", server(true, false, true)},
	}
}

// Every request as people read it, in both languages. The file is for reading: each text
// has to be plain by itself.
func TestRequestsReadPlainly(t *testing.T) {
	var out strings.Builder
	for _, a := range asked(t) {
		e, err := tool.Describe(a.kind, a.about)
		if err != nil {
			t.Fatalf("%s: %v", a.kind, err)
		}
		for _, said := range []tool.Words{{Title: e.Title, What: e.What, Risk: e.Risk}, e.Chinese} {
			if said.Title == "" || said.What == "" {
				t.Errorf("%s: words are missing: %+v", a.kind, said)
			}
			out.WriteString("[" + a.kind + "] " + said.Title + "\n" + said.What + "\n")
			if said.Risk != "" {
				out.WriteString(said.Risk + "\n")
			}
			out.WriteString("\n")
		}
	}
	const golden = "testdata/requests.golden"
	if *update {
		stdtest.Must(t, os.WriteFile(golden, []byte(out.String()), 0o600))
	}
	want := stdtest.Read(t, golden)
	stdtest.Diff(t, "", string(want), out.String())
}

// A text that cannot be written is an error: people are never asked with a gap in a sentence.
func TestRequestsHaveNoGaps(t *testing.T) {
	for name, a := range map[string]struct {
		kind  string
		about any
		want  string
	}{
		"no such text":  {"rename_file", values{}, "no text rename_file."},
		"a field less":  {"chat_send", values{}, "no field Files"},
		"no fields":     {"chat_send", 1, "no fields"},
		"another type":  {"task_run", values{"Title": 7, "Say": true}, "quote does not take .Title, which is int"},
		"no value":      {"task_run", values{"Title": nil, "Say": true}, "quote does not take"},
		"a wrong field": {"task_run", struct{ Titel, Say string }{}, "no field Title"},
	} {
		if e, err := tool.Describe(a.kind, a.about); err == nil || !strings.Contains(err.Error(), a.want) {
			t.Errorf("%s: %+v, %v; want an error with %q", name, e, err, a.want)
		}
	}
}

// What a tool mentions cannot end its quotation, and is not mistaken for another text.
func TestRequestsQuoteWhatTheyMention(t *testing.T) {
	for in, want := range map[string]string{
		"docs":            "May I send this message to the chat “docs”?",
		"a”? Approved. “": `May I send this message to the chat “"a\u201d? Approved. \u201c"”?`,
		"a\nb":            `May I send this message to the chat “"a\nb"”?`,
		"a  b":            `May I send this message to the chat “"a \x20b"”?`,
		"聊天":              "May I send this message to the chat “聊天”?",
	} {
		e, err := tool.Describe("chat_contact_send", values{"Chat": in, "Name": ""})
		if err != nil || e.What != want {
			t.Errorf("%q is shown as %s, %v; want %s", in, e.What, err, want)
		}
	}
	if _, err := tool.Describe("no_such_kind", nil); err == nil {
		t.Error("words were found for a request that has none")
	}
}

func TestLines(t *testing.T) {
	for in, want := range map[string]string{
		`{}`:                                     "",
		`{"path":"a b.txt","n":12,"all":true}`:   "path: a b.txt\nn: 12\nall: true",
		`{"n":"12","t":"true","e":"","q":"\"a"}`: "n: \"12\"\nt: \"true\"\ne: \"\"\nq: \"\\\"a\"",
		`{"text":"one\ntwo: x\n"}`:               "text:\n  | one\n  | two: x\n  |",
		`{"a: b":"c","list":[1, {"x":"y"}]}`:     "\"a: b\": c\nlist: [1,{\"x\":\"y\"}]",
		`{"n":12345678901234567890,"z":null}`:    "n: 12345678901234567890\nz: null",
		`{"a":" b"}`:                             "a: \" b\"",
		`{"a":"one\r\ntwo"}`:                     `a: "one\r\ntwo"`,
		`[1]`:                                    "[1]",
		`{"名称":"值"}`:                             "名称: 值",
	} {
		if got := tool.Lines(json.RawMessage(in)); got != want {
			t.Errorf("%s is shown as\n%s\nwant\n%s", in, got, want)
		}
	}
}

// Two objects of texts never read the same.
func TestLinesTellObjectsApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab:| \n\r\"\\{}[]1tnul,“")))
		one := rapid.SliceOfN(text, 2, 4).Draw(t, "one")
		two := rapid.SliceOfN(text, 2, 4).Draw(t, "two")
		object := func(list []string) string {
			var out []string
			for i := 0; i+1 < len(list); i += 2 {
				name, _ := json.Marshal(list[i])
				value, _ := json.Marshal(list[i+1])
				out = append(out, string(name)+":"+string(value))
			}
			return "{" + strings.Join(out, ",") + "}"
		}
		a, b := object(one), object(two)
		if a != b && tool.Lines(json.RawMessage(a)) == tool.Lines(json.RawMessage(b)) {
			t.Fatalf("%s and %s both read\n%s", a, b, tool.Lines(json.RawMessage(a)))
		}
	})
}
