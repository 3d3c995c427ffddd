package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// What a person agreed to send is sent, or nothing: a link, a file or a folder that is
// swapped between the request and the answer leads to no other bytes.
func TestSwappedFilesAreNotSent(t *testing.T) {
	const secret = "canary of another file"
	for _, tt := range []struct {
		name, path string
		swap       func(t *testing.T, dir, outside string)
	}{
		{"a link to another file", "out/link.txt", func(t *testing.T, dir, _ string) {
			t.Helper()
			relink(t, "other.txt", filepath.Join(dir, "out", "link.txt"))
		}},
		{"a link out of the project", "out/report.txt", func(t *testing.T, dir, outside string) {
			t.Helper()
			relink(t, outside, filepath.Join(dir, "out", "report.txt"))
		}},
		{"a folder that becomes a link", "out/report.txt", func(t *testing.T, dir, outside string) {
			t.Helper()
			stdtest.Must(t, os.Rename(filepath.Join(dir, "out"), filepath.Join(dir, "was")))
			relink(t, filepath.Dir(outside), filepath.Join(dir, "out"))
		}},
		{"other bytes", "out/report.txt", func(t *testing.T, dir, _ string) {
			t.Helper()
			stdtest.Write(t, filepath.Join(dir, "out", "report.txt"), secret)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newProject(t)
			outside := filepath.Join(t.TempDir(), "report.txt")
			stdtest.Write(t, outside, secret)
			stdtest.Write(t, filepath.Join(p.dir, "out", "report.txt"), "the report")
			stdtest.Write(t, filepath.Join(p.dir, "out", "other.txt"), secret)
			relink(t, "report.txt", filepath.Join(p.dir, "out", "link.txt"))
			script := modeltest.NewScript(
				modeltest.CallTools(modeltest.Call{ID: "c1", Name: "chat_send", Input: `{"text":"Here.","attachments":[{"path":"` + tt.path + `","kind":"document"}],"final":true}`}),
				modeltest.CallTools(modeltest.Call{ID: "c2", Name: "chat_send", Input: `{"text":"It has changed.","final":true}`}))
			flags := telegramFlags(p)
			flags["permissions.exec.approvers"] = `["1"]`
			p.start(t, Options{Model: script}, flags)
			p.api.Say(1, 1, "send me the report", nil)
			p.api.Await(t, "the request", func() bool { return len(p.api.Sent(1)) == 1 })
			tt.swap(t, p.dir, outside)
			p.api.Say(1, 1, "/approve 1", nil)
			p.api.Await(t, "the answer", func() bool { return len(p.api.Sent(1)) >= 2 && script.Left() == 0 })
			if calls := p.api.Calls("sendDocument"); len(calls) != 0 {
				t.Errorf("%d files were sent", len(calls))
			}
			for _, name := range stdtest.Names(t, filepath.Join(p.dir, ".ship", "files")) {
				if data, err := os.ReadFile(filepath.Join(p.dir, ".ship", "files", name)); err == nil && strings.Contains(string(data), secret) {
					t.Errorf("%s was copied", name)
				}
			}
		})
	}
}

// What a person agreed to for a folder is for files that are in it when they are sent, and
// for nothing that a path, a link or a name makes look so: people are asked, or nothing is
// sent.
func TestAGrantOfAFolderIsNotWidened(t *testing.T) {
	const secret = "canary of another file"
	for _, tt := range []struct {
		name, path string
		attack     func(t *testing.T, dir, outside string)
	}{
		{"dots", "out/../private/plan.txt", nil},
		{"dots after a link", "out/link/../private/plan.txt", nil},
		{"a folder in it", "out/deep/plan.txt", nil},
		{"a name that begins so", "output/plan.txt", nil},
		{"another case", "OUT/plan.txt", nil},
		{"a hidden file", "out/.plan.txt", nil},
		{"a key", "out/id_rsa", nil},
		{"variables", "out/.env.local", nil},
		{"a link to a file beside it", "out/plan.txt", func(t *testing.T, dir, _ string) {
			t.Helper()
			relink(t, filepath.Join("..", "private", "plan.txt"), filepath.Join(dir, "out", "plan.txt"))
		}},
		{"a link out of the project", "out/plan.txt", func(t *testing.T, dir, outside string) {
			t.Helper()
			relink(t, outside, filepath.Join(dir, "out", "plan.txt"))
		}},
		{"a hard link to a file outside", "out/plan.txt", func(t *testing.T, dir, outside string) {
			t.Helper()
			stdtest.Must(t, os.Link(outside, filepath.Join(dir, "out", "plan.txt")))
		}},
		{"the folder becomes a link", "out/plan.txt", func(t *testing.T, dir, _ string) {
			t.Helper()
			stdtest.Must(t, os.Rename(filepath.Join(dir, "out"), filepath.Join(dir, "was")))
			relink(t, "private", filepath.Join(dir, "out"))
		}},
		{"the folder becomes a link out of the project", "out/report.txt", func(t *testing.T, dir, outside string) {
			t.Helper()
			stdtest.Must(t, os.Rename(filepath.Join(dir, "out"), filepath.Join(dir, "was")))
			relink(t, filepath.Dir(outside), filepath.Join(dir, "out"))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newProject(t)
			outside := filepath.Join(t.TempDir(), "report.txt")
			stdtest.Write(t, outside, secret)
			stdtest.Write(t, filepath.Join(p.dir, "out", "report.txt"), "the report")
			for _, name := range []string{"private/plan.txt", "out/deep/plan.txt", "output/plan.txt", "out/.plan.txt", "out/id_rsa", "out/.env.local"} {
				stdtest.Write(t, filepath.Join(p.dir, filepath.FromSlash(name)), secret)
			}
			relink(t, filepath.Join("..", "private"), filepath.Join(p.dir, "out", "link"))
			input := func(path string) string {
				return `{"text":"Here.","attachments":[{"path":"` + path + `","kind":"document"}],"final":true}`
			}
			script := modeltest.NewScript(
				modeltest.CallTools(modeltest.Call{ID: "c1", Name: "chat_send", Input: input("out/report.txt")}),
				modeltest.CallTools(modeltest.Call{ID: "c2", Name: "chat_send", Input: input(tt.path)}),
				modeltest.CallTools(modeltest.Call{ID: "c3", Name: "chat_send", Input: `{"text":"I may not.","final":true}`}))
			flags := telegramFlags(p)
			flags["permissions.exec.approvers"] = `["1"]`
			p.start(t, Options{Model: script}, flags)
			p.api.Say(1, 1, "send me the report", nil)
			p.api.Await(t, "the request", func() bool { return len(p.api.Sent(1)) == 1 })
			p.api.Say(1, 1, "/approve 1 folder", nil)
			p.api.Await(t, "the report", func() bool { return len(p.api.Calls("sendDocument")) == 1 && len(p.api.Sent(1)) >= 3 })
			if tt.attack != nil {
				tt.attack(t, p.dir, outside)
			}
			before := len(p.texts())
			p.api.Say(1, 1, "and the other one", nil)
			p.api.Await(t, "a request or a refusal", func() bool {
				said := strings.Join(p.texts()[before:], "\n")
				return strings.Contains(said, "May I send this file") || strings.Contains(said, "I may not.")
			})
			if n := len(p.api.Calls("sendDocument")); n != 1 {
				t.Errorf("%d files were sent, want the report alone", n)
			}
			for _, name := range stdtest.Names(t, filepath.Join(p.dir, ".ship", "files")) {
				if data, err := os.ReadFile(filepath.Join(p.dir, ".ship", "files", name)); err == nil && strings.Contains(string(data), secret) {
					t.Errorf("%s was copied", name)
				}
			}
		})
	}
}

func relink(t *testing.T, target, name string) {
	t.Helper()
	_ = os.Remove(name) // it need not be there
	stdtest.Must(t, os.Symlink(target, name))
}
