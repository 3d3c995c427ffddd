package main

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// Making the folder of a release: "go test ./cmd/sma -run TestReleases -release 0.1.0".
var release = flag.String("release", "", "the release whose folder is made of this program")

var releaseReads = []string{
	"sma config check -C mybot",
	"sma chats verify -C mybot",
	"sma chats show -C mybot telegram-chat-1001 --json",
	"sma chats show -C mybot cli-chat-reports --json",
	"sma search -C mybot hello --json",
	"sma tasks list -C mybot --json",
	"sma memory show -C mybot project",
	"sma usage -C mybot --since 2023-11-01 --json",
	"sma approvals grants -C mybot --json",
}

// TestReleases reads, starts and goes on with a project as each release has left it. Nobody changes these folders.
func TestReleases(t *testing.T) {
	const folders = "testdata/releases"
	if *release != "" {
		makeRelease(t, filepath.Join(folders, *release))
	}
	all, err := os.ReadDir(folders)
	stdtest.Must(t, err)
	for _, e := range all {
		t.Run(e.Name(), func(t *testing.T) {
			t.Parallel()
			g := newGuide(t)
			g.env = append(g.env, "OPENAI_API_KEY=canary-1234567890", "TELEGRAM_BOT_TOKEN="+g.api.Token(), "SMA_LLM_BASE_URL="+g.service)
			from, to := filepath.Join(folders, e.Name()), filepath.Join(g.dir, "mybot")
			copyTree(t, filepath.Join(from, "project"), to)
			copyTree(t, filepath.Join(from, "state"), filepath.Join(to, ".ship"))
			want := stdtest.Read(t, filepath.Join(from, "want.txt"))
			if got := readRelease(t, g); len(missingLines(string(want), got)) > 0 {
				t.Errorf("the release read lines that are missing now:\n%s\nThe commands print\n%s", strings.Join(missingLines(string(want), got), "\n"), got)
			}
			g.start(t)
			for range 40 { // the ids of this Telegram begin anew, and the bot knows the first ones
				g.say(t, reader, "Hello")
			}
			g.wait(t, reader, "Hello, I am here.")
			if out := g.do(t, "sma send -C mybot --chat reports Hello"); !strings.Contains(out, "Hello, I am here.") {
				t.Errorf("the chat of the terminal answers %q", out)
			}
		})
	}
}

func readRelease(t *testing.T, g *guide) string {
	t.Helper()
	var out strings.Builder
	for _, line := range releaseReads {
		out.WriteString("$ " + line + "\n" + g.do(t, line) + "\n")
	}
	// The next times of a task depend on the day of the test, and the score of a result on the search.
	return regexp.MustCompile(`("next"|"score"): (\[[^]]*\]|[\d.]+)`).ReplaceAllString(strings.ReplaceAll(out.String(), g.dir, "DIR"), `$1: "…"`)
}

// makeRelease has this program leave a project: a paired owner with two conversations, one of them compacted, a request
// that was approved, a task, a memory and a chat of the terminal.
func makeRelease(t *testing.T, to string) {
	t.Helper()
	g := newGuide(t)
	g.env = append(g.env, "SMA_CONTEXT_HISTORY_KEEP_LAST_MESSAGES=4")
	g.prepare(t, []block{{kind: "chat"}})
	g.say(t, reader, "Hello")
	g.wait(t, reader, "Hello, I am here.")
	g.say(t, reader, "Run git status, please")
	g.wait(t, reader, "/approve 1")
	g.say(t, reader, "/approve 1")
	g.wait(t, reader, "Done.")
	for range 4 {
		g.say(t, reader, "Hello")
		g.wait(t, reader, "Hello, I am here.")
	}
	g.say(t, reader, "/compact")
	g.wait(t, reader, "summing up")
	g.say(t, reader, "Hello")
	g.wait(t, reader, "Hello, I am here.")
	g.say(t, reader, "/new Second")
	g.wait(t, reader, "We start afresh.")
	g.say(t, reader, "Hello again")
	g.wait(t, reader, "Hello, I am here.")
	g.do(t, "sma send -C mybot --chat reports 'Hello, report'")
	g.do(t, "sma tasks add stretch -C mybot --chat telegram-chat-1001 --cron '0 9 * * 1' --title Stretch --say 'Time to stretch!'")
	g.stop()
	project := filepath.Join(g.dir, "mybot")
	editor := filepath.Join(g.dir, "edit")
	stdtest.Must(t, os.WriteFile(editor, []byte("#!/bin/sh\necho '- The team drinks tea.' >> \"$1\"\n"), 0o700)) //nolint:gosec // a program
	g.env = append(g.env, "EDITOR="+editor)
	g.do(t, "sma memory edit -C mybot project")
	for _, name := range []string{"lock", "control.sock", "web.token", "ship.schema.json"} {
		stdtest.Must(t, os.RemoveAll(filepath.Join(project, ".ship", name)))
	}
	copyTree(t, filepath.Join(project, ".ship"), filepath.Join(to, "state"))
	stdtest.Must(t, os.RemoveAll(filepath.Join(project, ".ship")))
	copyTree(t, project, filepath.Join(to, "project"))
	copyTree(t, filepath.Join(to, "state"), filepath.Join(project, ".ship"))
	stdtest.Must(t, os.WriteFile(filepath.Join(to, "want.txt"), []byte(readRelease(t, g)), 0o600))
}

func copyTree(t *testing.T, from, to string) {
	t.Helper()
	stdtest.Must(t, errors.Join(os.MkdirAll(filepath.Dir(to), 0o700), os.CopyFS(to, os.DirFS(from))))
}

// missingLines are the lines of a text that another one does not have after those before them. Commas at their ends do
// not count, as documents may gain members.
func missingLines(want, got string) (missing []string) {
	have := strings.Split(got, "\n")
	for line := range strings.SplitSeq(want, "\n") {
		at := slices.IndexFunc(have, func(h string) bool { return strings.TrimSuffix(h, ",") == strings.TrimSuffix(line, ",") })
		if at < 0 {
			missing = append(missing, line)
		} else {
			have = have[at+1:]
		}
	}
	return missing
}
