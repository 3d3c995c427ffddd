package files_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/adapters/tool/files"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func TestWriteAndEdit(t *testing.T) {
	for name, tt := range map[string]struct {
		before string // of the file f; "-": there is none
		tool   string
		in     in
		after  string
		err    string
	}{
		"a new file":            {"-", files.WriteName, in{"path": "f", "content": "x\ny"}, "x\ny", ""},
		"a new empty file":      {"-", files.WriteName, in{"path": "f", "content": ""}, "", ""},
		"another text":          {"old\n", files.WriteName, in{"path": "./f", "content": "new\n"}, "new\n", ""},
		"instead of no text":    {"\x00\x01", files.WriteName, in{"path": "f", "content": "new\n"}, "new\n", ""},
		"the same text":         {"old\n", files.WriteName, in{"path": "f", "content": "old\n"}, "old\n", "exactly that already"},
		"below a file":          {"old\n", files.WriteName, in{"path": "f/x", "content": "new"}, "old\n", "is not a folder"},
		"one place":             {"a b c\n", files.EditName, in{"path": "f", "old": "b", "new": "B"}, "a B c\n", ""},
		"to nothing":            {"a b c\n", files.EditName, in{"path": "f", "old": " b", "new": ""}, "a c\n", ""},
		"several places":        {"a a\n", files.EditName, in{"path": "f", "old": "a", "new": "b"}, "a a\n", "2 times"},
		"all places":            {"a a\n", files.EditName, in{"path": "f", "old": "a", "new": "b", "all": true}, "b b\n", ""},
		"no place":              {"a\n", files.EditName, in{"path": "f", "old": "x", "new": "b"}, "a\n", "does not hold"},
		"no change":             {"a\n", files.EditName, in{"path": "f", "old": "a", "new": "a"}, "a\n", "exactly that already"},
		"no file":               {"-", files.EditName, in{"path": "f", "old": "a", "new": "b"}, "(absent)", "there is no file"},
		"lines end differently": {"a\r\nb\nc\r\nd\r\n", files.EditName, in{"path": "f", "old": "c\nd", "new": "c\ne"}, "a\r\nb\nc\r\ne\r\n", ""},
		"no text":               {"\x00a", files.EditName, in{"path": "f", "old": "a", "new": "b"}, "\x00a", "cannot be edited"},
		"other line ends":       {"a\r\nb\r\nc\r\n", files.EditName, in{"path": "f", "old": "a\nb", "new": "x\ny\nz"}, "x\r\ny\r\nz\r\nc\r\n", ""},
		"other line ends, same": {"a\r\nb\r\n", files.EditName, in{"path": "f", "old": "a\r\nb", "new": "x"}, "x\r\n", ""},
		"line ends not ours":    {"a\nb\n", files.EditName, in{"path": "f", "old": "a\r\nb", "new": "x\r\ny"}, "x\ny\n", ""},
		"mixed line ends":       {"a\r\nb\nc\n", files.EditName, in{"path": "f", "old": "b\nc", "new": "x\ny"}, "a\r\nx\ny\n", ""},
		"a mark stays":          {"\ufeffa\n", files.EditName, in{"path": "f", "old": "a", "new": "b"}, "\ufeffb\n", ""},
		"bytes stay":            {"a caf\xe9 of some length\n", files.EditName, in{"path": "f", "old": "a", "new": "b", "all": true}, "b cbf\xe9 of some length\n", ""},
		"too large":             {strings.Repeat("a", 1000), files.EditName, in{"path": "f", "old": "a", "new": strings.Repeat("b", 2000), "all": true}, strings.Repeat("a", 1000), "too large"},
		"outside":               {"-", files.WriteName, in{"path": "../f", "content": "x"}, "(absent)", "leads out"},
		"outside, absolute":     {"-", files.WriteName, in{"path": "/tmp/f", "content": "x"}, "(absent)", "not in the project"},
		"the folder itself":     {"-", files.WriteName, in{"path": ".", "content": "x"}, "(absent)", "is a folder"},
	} {
		contents := map[string]string{}
		if tt.before != "-" {
			contents["f"] = tt.before
		}
		p := newProject(t, contents)
		_, err := p.run(t.Context(), tt.tool, tt.in)
		if got := p.read(t, "f"); got != tt.after {
			t.Errorf("%s: the file is %q, want %q", name, got, tt.after)
		}
		if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%s: %v, want %q", name, err, tt.err)
		}
		for _, dir := range []string{p.dir, p.stored} {
			left, _ := os.ReadDir(dir) // the host's folder may not exist
			left = slices.DeleteFunc(left, func(e os.DirEntry) bool { return e.Name() == "f" || e.Name() == ".ship" })
			if len(left) > 0 {
				t.Errorf("%s: %v is left", name, left)
			}
		}
	}
}

func TestWriteMakesFoldersAndKeepsModes(t *testing.T) {
	p := newProject(t, map[string]string{"run.sh": "#!/bin/sh\n"})
	stdtest.Must(t, os.Chmod(p.path("run.sh"), 0o751))
	out := p.must(t, files.WriteName, in{"path": "a/b/c.txt", "content": "x\n"})
	want := map[string]any{"written": "a/b/c.txt", "bytes": 2.0, "lines": 1.0, "created": true}
	if diff := cmp.Diff(want, out); diff != "" || p.read(t, "a/b/c.txt") != "x\n" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	p.must(t, files.EditName, in{"path": "run.sh", "old": "sh", "new": "bash", "all": true})
	if info, err := os.Stat(p.path("run.sh")); err != nil || info.Mode() != 0o751 || p.read(t, "run.sh") != "#!/bin/bash\n" {
		t.Errorf("mode %v, %q, %v", info.Mode(), p.read(t, "run.sh"), err)
	}
	// A second name of a file keeps the old text, and a link still leads to the file.
	stdtest.Must(t, os.Link(p.path("run.sh"), p.path("twin")))
	stdtest.Must(t, os.Symlink("run.sh", p.path("link")))
	p.must(t, files.WriteName, in{"path": "link", "content": "new\n"})
	if target, err := os.Readlink(p.path("link")); err != nil || target != "run.sh" || p.read(t, "run.sh") != "new\n" || p.read(t, "twin") != "#!/bin/bash\n" {
		t.Errorf("link to %q, %v; %q, %q", target, err, p.read(t, "run.sh"), p.read(t, "twin"))
	}
}

func TestExplain(t *testing.T) {
	p := newProject(t, map[string]string{
		"a.txt": "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "no\nline": "x", "bin": "\x00\x01", "Agent.md": "I am Ada.\n",
		".ship/tasks/t.md": "the task of another chat\n",
	})
	deep := strings.Repeat("a", 201) + "/" + strings.Repeat("b", 202)
	for name, tt := range map[string]struct {
		tool              string
		in                in
		what, risk, exact string
	}{
		"an edit": {
			files.EditName,
			in{"path": "a.txt", "old": "5", "new": "five"},
			"May I change the file “a.txt”? It has 18 bytes now and will have 21 bytes.", "",
			"a.txt\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n",
		},
		"a new file": {
			files.WriteName,
			in{"path": "x/y/z", "content": "a\nb"},
			"May I create the file “x/y/z” with 3 bytes, and 2 new folders for it?", "",
			"x/y/z\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n",
		},
		"a name with a line break": {
			files.WriteName,
			in{"path": "no\nline", "content": "y"},
			`May I change the file “"no\nline"”? It has 1 byte now and will have 1 byte.`, "",
			"\"no\\nline\"\n@@ -1,1 +1,1 @@\n-x\n\\ No newline at end of file\n+y\n\\ No newline at end of file\n",
		},
		"a long path": {
			files.WriteName,
			in{"path": deep + "/run.sh", "content": "a\n"},
			"May I create the file “" + deep[:75] + " … 411 bytes … " + deep[411-7-19:] + "/run.sh” with 2 bytes, and 2 new folders for it?", "",
			deep + "/run.sh\n@@ -0,0 +1,1 @@\n+a\n",
		},
		"no text": {
			files.WriteName,
			in{"path": "bin", "content": "y\n"},
			"May I change the file “bin”? It has 2 bytes now and will have 2 bytes.",
			"The present content is not text and is replaced. Its SHA-256 is " + sum("\x00\x01") + ".",
			"bin\n@@ -0,0 +1,1 @@\n+y\n",
		},
		"the agent": {
			files.EditName, in{"path": "agent.md/../Agent.md", "old": "Ada", "new": "Bob"}, "", "", "",
		},
		"the agent itself": {
			files.EditName,
			in{"path": "Agent.md", "old": "Ada", "new": "Bob"},
			"May I change the file “Agent.md”? It has 10 bytes now and will have 10 bytes.",
			"This changes how the agent behaves: the file says who the agent is and what it does.",
			"Agent.md\n@@ -1,1 +1,1 @@\n-I am Ada.\n+I am Bob.\n",
		},
		"a task": {
			files.WriteName,
			in{"path": ".ship/tasks/t.md", "content": "x\n"},
			"May I change the file “.ship/tasks/t.md”? It has 25 bytes now and will have 2 bytes.",
			"This changes how the agent behaves: the file is a task, which the agent does by itself when its time comes. The present content is replaced and is not shown here, because tasks belong to their chats. Its SHA-256 is " + sum("the task of another chat\n") + ".",
			".ship/tasks/t.md\n@@ -0,0 +1,1 @@\n+x\n",
		},
	} {
		_, _, e, err := p.ask(tt.tool, tt.in)
		if tt.what == "" {
			if err == nil {
				t.Errorf("%s: explained as %+v", name, e)
			}
			continue
		}
		want := tool.Explanation{Title: e.Title, What: tt.what, Risk: tt.risk, Chinese: e.Chinese, Exact: tt.exact, Bind: e.Bind}
		if diff := cmp.Diff(want, e); diff != "" || err != nil || e.Bind == "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

func sum(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) }

// A difference is shown whole, however long it is. A run refuses a call that is too long to be shown.
func TestExplainShowsAllOfALongDifference(t *testing.T) {
	p := newProject(t, nil)
	text := strings.Repeat("a line of the new file\n", 2000) + "the end\n"
	_, _, e, err := p.ask(files.WriteName, in{"path": "f", "content": text})
	want := "f\n@@ -0,0 +1,2001 @@\n+" + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n+") + "\n"
	if err != nil || e.Exact != want {
		t.Fatalf("%d bytes are shown of %d, %v", len(e.Exact), len(want), err)
	}
}

// A new text that can be shown is not refused because of the text that it replaces.
func TestExplainReplacedTexts(t *testing.T) {
	old, text := strings.Repeat("an old line\n", 3000), strings.Repeat("a line\n", 1000)
	p := newProject(t, map[string]string{"f": old})
	_, _, e, err := p.ask(files.WriteName, in{"path": "f", "content": text})
	want := "f\n@@ -0,0 +1,1000 @@\n" + strings.Repeat("+a line\n", 1000)
	if err != nil || e.Exact != want || !strings.Contains(e.Risk, "replaced and is not shown here. Its SHA-256 is "+sum(old)) || !strings.Contains(e.What, "It has 35 KiB now and will have 7000 bytes") {
		t.Errorf("%d bytes are shown of %d: %s %s, %v", len(e.Exact), len(want), e.What, e.Risk, err)
	}
}

// Nothing is written but what a person agreed to: not without an answer, not with
// the answer to another call, not once the file is another one.
func TestAP13FilesNeedTheAgreementOfAPerson(t *testing.T) {
	const before = "one\ntwo\n"
	contents := map[string]string{"f": before, "g": before, "Agent.md": before, ".ship/skills/s/SKILL.md": before}
	calls := map[string]struct {
		tool string
		in   in
	}{
		"write":       {files.WriteName, in{"path": "f", "content": "new"}},
		"write anew":  {files.WriteName, in{"path": "new/f", "content": "new"}},
		"edit":        {files.EditName, in{"path": "f", "old": "two", "new": "2"}},
		"the agent":   {files.EditName, in{"path": "Agent.md", "old": "two", "new": "2"}},
		"a skill":     {files.WriteName, in{"path": ".ship/skills/s/SKILL.md", "content": "new"}},
		"a new skill": {files.WriteName, in{"path": ".claude/skills/n/SKILL.md", "content": "new"}},
	}
	for name, one := range calls {
		for what := range surprises(t, nil, nil, "") {
			p := newProject(t, contents)
			found, call, e, err := p.ask(one.tool, one.in)
			if err != nil || e.Bind == "" {
				t.Fatalf("%s: %v", name, err)
			}
			at := target(&call)
			if what == "the file went" && p.read(t, at) == "(absent)" {
				continue
			}
			call.Bind = e.Bind
			surprises(t, p, &call, before)[what]()
			was, g := p.snapshot(t), p.read(t, "g")
			if r, err := found.Invoke(t.Context(), call); err == nil {
				t.Errorf("%s, %s: done: %s", name, what, r.Output)
			}
			if diff := cmp.Diff(was, p.snapshot(t)); diff != "" || p.read(t, "g") != g {
				t.Errorf("%s, %s: something was written:\n%s", name, what, diff)
			}
		}
		p := newProject(t, contents)
		if _, err := p.run(t.Context(), one.tool, one.in); err != nil {
			t.Errorf("%s: agreed to and refused: %v", name, err)
		}
		found, call, e, err := p.ask(one.tool, one.in) // once more: it is another change now
		if err == nil {
			_, before, _, _ := newProject(t, contents).ask(one.tool, one.in)
			if call.Bind = before.Bind; call.Bind == e.Bind {
				t.Errorf("%s: %v", name, found)
			}
		}
	}
}

// surprises are what may happen between an answer and the effect.
func surprises(t *testing.T, p *project, c *tool.Call, before string) map[string]func() {
	t.Helper()
	return map[string]func(){
		"no answer":          func() { c.Bind = "" },
		"an answer made up":  func() { c.Bind = "file-" + strings.Repeat("0", 64) },
		"the file changed":   func() { p.write(t, target(c), before+"three\n") },
		"the file came":      func() { p.write(t, target(c), "came\n") },
		"the file went":      func() { replace(t, p, c, "", false) },
		"a link took over":   func() { replace(t, p, c, p.path("g"), true) },
		"a link out":         func() { replace(t, p, c, "/etc/hostname", true) },
		"a folder took over": func() { replace(t, p, c, "", true) },
		"the parent is a link": func() {
			if dir := filepath.Dir(target(c)); dir != "." {
				_ = os.RemoveAll(p.path(dir))
				_ = os.MkdirAll(p.path(filepath.Dir(dir)), 0o755)
				stdtest.Must(t, os.Symlink(t.TempDir(), p.path(dir)))
			} else {
				c.Bind = "-"
			}
		},
		"other words": func() {
			c.Input = []byte(strings.NewReplacer(`"new":"2"`, `"new":"3"`, `"content":"new"`, `"content":"evil"`).Replace(string(c.Input)))
		},
		"another path": func() {
			c.Input = []byte(strings.Replace(string(c.Input), `"path":"`+target(c), `"path":"g`, 1))
		},
	}
}

func target(c *tool.Call) string {
	_, rest, _ := strings.Cut(string(c.Input), `"path":"`)
	path, _, _ := strings.Cut(rest, `"`)
	return path
}

// replace removes what a call is about, and puts a link, a folder or nothing there.
func replace(t *testing.T, p *project, c *tool.Call, to string, put bool) {
	t.Helper()
	at := p.path(target(c))
	err := errors.Join(os.RemoveAll(at), os.MkdirAll(filepath.Dir(at), 0o755))
	switch {
	case put && to != "":
		err = errors.Join(err, os.Symlink(to, at))
	case put:
		err = errors.Join(err, os.Mkdir(at, 0o755))
	}
	stdtest.Must(t, err)
}

// snapshot is every file of the project with its text.
func (p *project) snapshot(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(p.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if d.Type()&os.ModeSymlink != 0 {
			target, _ := os.Readlink(path)
			text, err = []byte("-> "+target), nil
		}
		out[path] = string(text)
		return err
	})
	stdtest.Must(t, err)
	return out
}

// Of many changes of one file that were agreed to at once, one happens, and the
// others say that they have to be asked again.
func TestAP13ConcurrentChanges(t *testing.T) {
	p := newProject(t, map[string]string{"f": "0"})
	const n = 20
	type one struct {
		found tool.Tool
		call  tool.Call
	}
	var all []one
	for i := range n {
		found, call, e, err := p.ask(files.WriteName, in{"path": "f", "content": fmt.Sprintf("text %d", i)})
		stdtest.Must(t, err)
		call.Bind = e.Bind
		all = append(all, one{found, call})
	}
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i, o := range all {
		wg.Go(func() { _, errs[i] = o.found.Invoke(context.Background(), o.call) })
	}
	wg.Wait()
	done := -1
	for i, err := range errs {
		switch {
		case err == nil && done >= 0:
			t.Errorf("both %d and %d happened", done, i)
		case err == nil:
			done = i
		case !errors.Is(err, files.ErrChanged) && !errors.Is(err, files.ErrMoved): // it was replaced before, or during, the look
			t.Errorf("%d: %v", i, err)
		}
	}
	if done < 0 || p.read(t, "f") != fmt.Sprintf("text %d", done) {
		t.Errorf("%d happened, the file is %q", done, p.read(t, "f"))
	}
}
