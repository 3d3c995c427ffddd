package skill

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// put writes files below a folder; a name that ends with a slash is a folder.
func put(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		stdtest.Must(t, file(dir, name, text))
	}
}

func file(dir, name, text string) error {
	path := filepath.Join(dir, name)
	if strings.HasSuffix(name, "/") {
		return os.MkdirAll(path, 0o700)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

func md(name string) string {
	return "---\nname: " + name + "\ndescription: what " + name + " does\n---\nDo " + name + ".\n"
}

// project is a folder with two folders of skills.
func project(t *testing.T) (dir string, c *Catalog) {
	t.Helper()
	dir = t.TempDir()
	return dir, NewCatalog(Root{Base: dir, Path: ".ship/skills", Label: ".ship/skills"}, Root{Base: dir, Path: ".claude/skills", Label: ".claude/skills"})
}

func names(s *Set) []string {
	out := []string{}
	for _, k := range s.Skills {
		out = append(out, k.Name)
	}
	return out
}

func problems(s *Set) []string {
	out := []string{}
	for _, p := range s.Problems {
		out = append(out, p.String())
	}
	return out
}

func TestCatalogFindsSkills(t *testing.T) {
	dir, c := project(t)
	put(t, dir, map[string]string{
		".claude/skills/pdf/SKILL.md": md("pdf"), ".claude/skills/pdf/run.py": "print()", ".claude/skills/zebra/SKILL.md": md("zebra"),
		".claude/skills/.hidden/SKILL.md": md("hidden"), ".claude/skills/README.md": "a file beside them",
		".ship/skills/pdf2/SKILL.md": md("pdf"), ".ship/skills/named-by-folder/SKILL.md": "---\ndescription: d\n---\nt",
		".ship/skills/broken/SKILL.md": "---\nname: Broken One\ndescription: d\n---\nt", ".ship/skills/empty/": "",
		"elsewhere/other/SKILL.md": md("other"),
	})
	set := c.Current()
	stdtest.Diff(t, "skills", []string{"named-by-folder", "pdf", "zebra"}, names(set))
	want := []string{
		`.ship/skills/broken/SKILL.md:2: the name "Broken One" cannot be used; use a-z, 0-9, - and _ only, as in my-skill`,
		".ship/skills/empty: there is no SKILL.md; write one, or move the folder elsewhere",
		".claude/skills/pdf: the skill pdf is in .ship/skills/pdf2 already, which counts; remove one of them or give it another name",
	}
	stdtest.Diff(t, "problems", want, problems(set))
	pdf, ok := set.Find("pdf")
	if !ok || pdf.Folder != ".ship/skills/pdf2" || pdf.Text != "Do pdf." || pdf.Files != 1 || pdf.TextBytes != len(md("pdf")) {
		t.Errorf("skill %+v, %v", pdf, ok)
	}
	if _, ok := set.Find("other"); ok {
		t.Error("a skill outside of the folders was found")
	}
}

// The digest of a skill covers its whole folder. After any change the digest is another one, and the
// earlier text is not available any more.
func TestCatalogDigests(t *testing.T) {
	changes := map[string]func(dir string) error{
		"text":       func(dir string) error { return file(dir, "SKILL.md", md("pdf")+"More.") },
		"script":     func(dir string) error { return file(dir, "scripts/run.sh", "echo b") },
		"new file":   func(dir string) error { return file(dir, "scripts/more.sh", "") },
		"new folder": func(dir string) error { return file(dir, "more/", "") },
		"file gone":  func(dir string) error { return os.Remove(filepath.Join(dir, "scripts/run.sh")) },
		"file moved": func(dir string) error {
			return os.Rename(filepath.Join(dir, "scripts/run.sh"), filepath.Join(dir, "run.sh"))
		},
		"right to be run": func(dir string) error { return os.Chmod(filepath.Join(dir, "scripts/run.sh"), 0o700) },
		"link":            func(dir string) error { return os.Symlink("run.sh", filepath.Join(dir, "scripts/link")) },
		"file for a link": func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, "scripts/again.sh")), file(dir, "scripts/again.sh", md("pdf")))
		},
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			dir, c := project(t)
			own := filepath.Join(dir, ".ship/skills/pdf")
			put(t, own, map[string]string{"SKILL.md": md("pdf"), "scripts/run.sh": "echo a"})
			stdtest.Must(t, os.Symlink("../SKILL.md", filepath.Join(own, "scripts/again.sh")))
			before, ok := c.Current().Find("pdf")
			if !ok {
				t.Fatal(problems(c.Current()))
			}
			pin := messages.SkillPin{Name: "pdf", Digest: before.Digest}
			if text, ok := c.Current().Text(pin); !ok || text.Text != "Do pdf." || text.Folder != ".ship/skills/pdf" {
				t.Errorf("text %+v, %v", text, ok)
			}
			stdtest.Must(t, change(own))
			after, ok := c.Refresh().Find("pdf")
			if !ok || after.Digest == before.Digest || !strings.HasPrefix(after.Digest, "sha256:") {
				t.Errorf("digest %s after %s, problems %v", after.Digest, before.Digest, problems(c.Current()))
			}
			if _, ok := c.Current().Text(pin); ok {
				t.Error("the old text is still there")
			}
		})
	}
}

// A change that names and times do not reveal is still noticed, because files are read again where
// it matters.
func TestCatalogFreshReadsEveryByte(t *testing.T) {
	dir, c := project(t)
	own := filepath.Join(dir, ".ship/skills/pdf")
	put(t, own, map[string]string{"SKILL.md": md("pdf"), "run.sh": "echo a"})
	script := filepath.Join(own, "run.sh")
	at := time.Now().Add(-time.Hour)
	stdtest.Must(t, os.Chtimes(script, at, at))
	before, _ := c.Current().Find("pdf")
	f, err := os.OpenFile(script, os.O_WRONLY, 0)
	stdtest.Must(t, err)
	_, err = f.WriteString("echo b")
	stdtest.Must(t, err)
	stdtest.Must(t, f.Close())
	stdtest.Must(t, os.Chtimes(script, at, at))
	if same, _ := c.Refresh().Find("pdf"); same.Digest != before.Digest {
		t.Skip("this disk shows the change")
	}
	if after, ok := c.Fresh("pdf"); !ok || after.Digest == before.Digest {
		t.Errorf("digest %s, %v, want another one", after.Digest, ok)
	}
}

func TestCatalogLooksAgain(t *testing.T) {
	dir, _ := project(t)
	now := time.Now()
	c := NewCatalog(Root{Base: dir, Path: "skills", Label: "skills"})
	c.now = func() time.Time { return now }
	if got := names(c.Current()); len(got) != 0 || len(c.Current().Problems) != 0 {
		t.Errorf("skills %v, problems %v of no folder", got, problems(c.Current()))
	}
	put(t, dir, map[string]string{"skills/a/SKILL.md": md("a")})
	if got := names(c.Current()); len(got) != 0 {
		t.Errorf("skills %v at once", got)
	}
	now = now.Add(lookAgain + 1)
	stdtest.Diff(t, "skills a while later", []string{"a"}, names(c.Current()))
	stdtest.Diff(t, "folders to watch", []string{filepath.Join(dir, "skills"), filepath.Join(dir, "skills", "a")}, c.Folders())
}

// What is too large, or no file, keeps a skill out, and nothing hangs over it.
func TestCatalogBounds(t *testing.T) {
	tests := []struct {
		name string
		make func(dir string) error
		want string
	}{
		{"a long text", func(dir string) error {
			return file(dir, "SKILL.md", md("big")+strings.Repeat("x", maxText))
		}, "SKILL.md has more than 262144 bytes"},
		{"large files", func(dir string) error {
			return errors.Join(file(dir, "a", ""), os.Truncate(filepath.Join(dir, "a"), maxBytes+1))
		}, "the folder holds more than 16777216 bytes"},
		{"many files", func(dir string) error {
			var all error
			for i := range maxFiles {
				all = errors.Join(all, file(dir, fmt.Sprintf("d/f%d", i), ""))
			}
			return all
		}, "more than 1000 files"},
		{"deep folders", func(dir string) error { return file(dir, strings.Repeat("d/", maxDepth+1)+"f", "") }, "12 levels deep"},
		{"a pipe", func(dir string) error { return syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600) }, "neither a file nor a folder"},
		{"a pipe for the text", func(dir string) error {
			text := filepath.Join(dir, "SKILL.md")
			return errors.Join(os.Remove(text), syscall.Mkfifo(text, 0o600))
		}, "neither a file nor a folder"},
		{"a folder for the text", func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, "SKILL.md")), file(dir, "SKILL.md/x", ""))
		}, "SKILL.md is not a file"},
		{"a link that leads nowhere", func(dir string) error { return os.Symlink("nowhere", filepath.Join(dir, "link")) }, "leads out of the folder or nowhere"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, c := project(t)
			own := filepath.Join(dir, ".ship/skills/big")
			put(t, own, map[string]string{"SKILL.md": md("big")})
			stdtest.Must(t, tt.make(own))
			set := c.Current()
			if len(set.Skills) != 0 || len(set.Problems) != 1 || !strings.Contains(problems(set)[0], tt.want) || set.Problems[0].Hint == "" {
				t.Errorf("skills %v, problems %q, want one with %q", names(set), problems(set), tt.want)
			}
		})
	}
}

// A pipe in the place of a skill or of a folder of skills has no end; nobody waits for it.
func TestCatalogDoesNotWaitForPipes(t *testing.T) {
	dir, c := project(t)
	put(t, dir, map[string]string{".ship/skills/pdf/SKILL.md": md("pdf"), ".claude/": ""})
	stdtest.Must(t, syscall.Mkfifo(filepath.Join(dir, ".ship/skills/pipe"), 0o600))
	stdtest.Must(t, os.Symlink("pipe", filepath.Join(dir, ".ship/skills/link")))
	stdtest.Must(t, syscall.Mkfifo(filepath.Join(dir, ".claude/skills"), 0o600))
	found := make(chan *Set, 1)
	go func() { found <- c.Current() }()
	select {
	case set := <-found:
		if got := problems(set); len(names(set)) != 1 || len(got) != 1 || !strings.Contains(got[0], ".claude/skills") {
			t.Errorf("skills %v, problems %q", names(set), got)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the catalog waits for a pipe")
	}
}
