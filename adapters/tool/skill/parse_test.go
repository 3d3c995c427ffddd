package skill

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/messages/frontmatter"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func TestParse(t *testing.T) {
	tests := []struct {
		name, file string
		want       document
	}{
		{"all members", "---\nname: pdf-forms\ndescription: Fills PDF forms.\nallowed-tools: Read, Bash(git add:*), Grep\n---\n# How\n\nDo it.\n", document{
			name: "pdf-forms", description: "Fills PDF forms.", tools: []string{"Read", "Bash(git add:*)", "Grep"}, text: "# How\n\nDo it.",
		}},
		{"a list of tools", "---\nname: x\ndescription: d\nallowed-tools:\n  - Read\n  - read_file\n---\nt", document{
			name: "x", description: "d", tools: []string{"Read", "read_file"}, text: "t",
		}},
		{"blanks between tools", "---\ndescription: d\nallowedTools: Read  Write\n---\nt", document{description: "d", tools: []string{"Read", "Write"}, text: "t"}},
		{"an empty list", "---\ndescription: d\nallowed_tools: []\n---\nt", document{description: "d", text: "t"}},
		{"no value", "---\ndescription: d\nallowed-tools:\nname:\n---\nt", document{description: "d", text: "t"}},
		{"lines end as on Windows", "\ufeff---\r\nname: x\r\ndescription: d\r\n---\r\na\r\nb\r\n", document{name: "x", description: "d", text: "a\nb"}},
		{"a description of several lines", "---\ndescription: >\n  one\n  two\n...\nt", document{description: "one two", text: "t"}},
		{"unknown members", "---\ndescription: 预算\nlicense: MIT\nmetadata: {a: [1, 2]}\n---\nt\n---\nmore", document{description: "预算", text: "t\n---\nmore"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parse([]byte(tt.file))
			stdtest.Must(t, err)
			stdtest.Diff(t, "document", tt.want, got, cmp.AllowUnexported(document{}))
		})
	}
}

func TestParseFaults(t *testing.T) {
	long := strings.Repeat("long ", 300)
	tests := []struct {
		name, file string
		line       int
		what       string
	}{
		{"empty", "", 1, "there is no front matter"},
		{"no front matter", "# Skill\nDo it.\n", 1, "there is no front matter"},
		{"no end", "---\nname: x\n", 1, "does not end"},
		{"no YAML", "---\nname: x\ndescription: [a\n---\nt", 3, "no YAML"},
		{"a colon in a value", "---\nname: x\ndescription: use: it\n---\nt", 3, "no YAML"},
		{"a tab", "---\nname: x\n\tdescription: d\n---\nt", 3, "no YAML"},
		{"a list", "---\n- name\n---\nt", 2, "has no members"},
		{"nothing in it", "---\n---\nt", 2, "has no members"},
		{"no description", "---\nname: x\n---\nt", 2, "no description"},
		{"an empty description", "---\nname: x\ndescription: \"  \"\n---\nt", 2, "no description"},
		{"a long description", "---\nname: x\ndescription: " + long + "\n---\nt", 3, "1499 characters, at most 1024"},
		{"a name with a blank", "---\ndescription: d\nname: My Skill\n---\nt", 3, `the name "My Skill" cannot be used`},
		{"a name with a slash", "---\nname: ../x\ndescription: d\n---\nt", 2, "cannot be used"},
		{"a name that is a list", "---\nname: [x]\ndescription: d\n---\nt", 2, "name is not text"},
		{"a name twice", "---\nname: x\nname: y\ndescription: d\n---\nt", 3, ""},
		{"tools twice", "---\ndescription: d\nallowed-tools: Read\nallowedTools: Bash\n---\nt", 4, "allowed-tools is there twice"},
		{"tools that are no list", "---\ndescription: d\nallowed-tools: {Read: true}\n---\nt", 3, "allowed-tools is not a list"},
		{"a tool that is not a name", "---\ndescription: d\nallowed-tools:\n  - Read\n  - [x]\n---\nt", 5, "is not text"},
		{"no text", "---\nname: x\ndescription: d\n---\n\n", 4, "there is no text"},
		{"long front matter", "---\ndescription: d\nx: " + strings.Repeat("y", 9000) + "\n---\nt", 1, "at most 8192"},
		{"no UTF-8", "---\ndescription: d\n---\nt\xff", 4, "no UTF-8"},
		{"a control character", "---\ndescription: d\n---\nt\x1b[0m", 4, "U+001B"},
		{"turned text", "---\ndescription: d\n---\nok\nt\u202e", 5, "U+202E"},
		{"a text that overwrites itself", "---\ndescription: d\n---\nok\nhidden\rt", 5, "U+000D"},
		{"a description that erases", "---\nname: x\ndescription: \"a\\e[2Kb\"\n---\nt", 3, "U+001B"},
		{"a turned description", "---\ndescription: \"a\\u202eb\"\n---\nt", 2, "U+202E"},
		{"a tool that erases", "---\ndescription: d\nallowed-tools: \"read_\\e[2Kfile\"\n---\nt", 3, "U+001B"},
		{"hidden words", "---\ndescription: d\U000E0041\n---\nt", 2, "U+E0041"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, err := parse([]byte(tt.file))
			f, ok := errors.AsType[frontmatter.Fault](err)
			if !ok {
				t.Fatalf("document %+v, error %v, want a fault", d, err)
			}
			if f.Line != tt.line || !strings.Contains(f.What, tt.what) || f.Hint == "" {
				t.Errorf("fault %+v, want line %d and %q, with a hint", f, tt.line, tt.what)
			}
		})
	}
}

func TestOwnTools(t *testing.T) {
	tests := []struct {
		name, text     string
		tools, unknown []string
	}{
		{"names of Claude", "Read, Write, Edit, MultiEdit, Grep, Glob, LS, WebFetch, Skill", []string{
			"edit_file", "list_files", "read_file", "search_files", "skills_load", "web_fetch", "write_file",
		}, nil},
		{"a shell", "Bash(git add:*, git commit:*)", []string{"exec_shell", "shell_read", "shell_status", "shell_stop", "shell_write"}, nil},
		{"our own and MCP", "memory_search mcp__github__create_issue files:read", []string{"files:read", "github:create_issue", "memory_search"}, nil},
		{"unknown ones are dropped", "Read TodoWrite mcp__x", []string{"read_file"}, []string{"TodoWrite", "mcp__x"}},
		{"nothing that we know does not limit", "TodoWrite, Task", nil, []string{"TodoWrite", "Task"}},
		{"all", "Read, *", nil, nil},
		{"none", "", nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tools, unknown := ownTools(splitNames(tt.text))
			stdtest.Diff(t, "tools and unknown", [][]string{tt.tools, tt.unknown}, [][]string{tools, unknown})
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"---\nname: x\ndescription: d\nallowed-tools: [Read, \"Bash(a,b)\"]\n---\nt", "---\n? [a]\n: b\n---\nx", "---\na: &a [*a]\nname: *a\n---\nx",
		"---\n<<: {name: x}\ndescription: !!binary aGk=\n---\nx", "---\ndescription: |\n  a\n---\n---\n", "\ufeff---\r\n---\r\n", "---\nname: !!null x\n...",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, err := parse(raw)
		if err != nil {
			if f, ok := errors.AsType[frontmatter.Fault](err); !ok || f.What == "" || f.Hint == "" || f.Line < 0 || f.Line > strings.Count(string(raw), "\n")+2 {
				t.Errorf("error %#v of a file of %d lines", err, strings.Count(string(raw), "\n")+1)
			}
			return
		}
		if d.name != "" && !validName(d.name) || d.description == "" || strings.ContainsAny(d.description, "\n\r") || d.text == "" || !utf8.ValidString(d.text) {
			t.Errorf("document %+v", d)
		}
		again, err := parse([]byte("---\ndescription: d\n---\n" + d.text))
		if err != nil || again.text != d.text {
			t.Errorf("the text %q became %q, error %v", d.text, again.text, err)
		}
	})
}
