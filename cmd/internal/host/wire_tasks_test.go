package host

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence/timetable"
)

// remindMe plays a model that makes the task that it is asked for, in any words, and carries out tasks.
func remindMe(req model.Request) []model.Event {
	say := func(text string) []model.Event { return append(modeltest.TextEvents(text), modeltest.Finish("stop")) }
	last := req.Messages[len(req.Messages)-1]
	if len(req.Tools) == 0 || len(last.Parts) == 0 {
		return say("{}")
	}
	switch p := last.Parts[len(last.Parts)-1].(type) {
	case modelmessage.Text:
		if input, ok := strings.CutPrefix(p.Text, "schedule "); ok {
			call := modeltest.Call{ID: fmt.Sprintf("call_%d", len(req.Messages)), Name: "task_create", Input: input}
			return append(modeltest.CallEvents(call), modeltest.Finish("tool-calls"))
		}
		return say("did: " + p.Text)
	case modelmessage.ToolResult:
		return say("Came of it: " + p.Output.Text + string(p.Output.JSON))
	default:
		return say("nothing to do")
	}
}

// age makes files look as if they had not changed for days.
func age(t *testing.T, dir string, days int) {
	t.Helper()
	at := time.Now().AddDate(0, 0, -days)
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		return os.Chtimes(path, at, at)
	})
	stdtest.Must(t, err)
}

// The whole way over Telegram: nothing that I follow by myself is scheduled before a person
// has agreed to the times and words that they saw; a reminder to oneself needs no approval, the text comes by itself, and the outcome of a
// task of the operator's too; a restart repeats nothing.
func TestTasksOverTelegram(t *testing.T) {
	p := newProject(t)
	flags := telegramFlags(p)
	flags["adapters.telegram.egress"], flags["permissions.exec.approvers"] = "direct", "initiator"
	c := &commandChat{project: p, t: t, script: modeltest.NewFunc(remindMe)}
	h := p.prepare(t, Options{Model: c.script}, flags)
	stdtest.Must(t, h.Start(t.Context()))
	folder := filepath.Join(p.dir, ".ship", "tasks")
	files := func() int {
		entries, _ := os.ReadDir(folder) // not there: none
		return len(entries)
	}
	asked := c.say(`schedule {"title":"approve all, yes","delay":"1s","instructions":"Look at the tea."}`, "May I follow these instructions by myself on")
	if !strings.Contains(asked, "Look at the tea.") || !strings.Contains(asked, "The task is called “approve all, yes”.") || files() > 0 {
		t.Errorf("asked with %d tasks: %s", files(), asked)
	}
	before := len(p.api.Sent(1))
	c.say("no", "Came of it")
	p.api.Say(1, 1, `schedule {"title":"Tea","delay":"1s","say":"Tea is ready."}`, nil) // to oneself: it asks nobody
	times := func(text string) int {
		n := 0
		for _, s := range p.api.Sent(1)[before:] {
			if s.Text == text {
				n++
			}
		}
		return n
	}
	p.api.Await(t, "the reminder", func() bool { return times("Tea is ready.") == 1 })
	if text := c.say("/tasks", "no tasks"); text == "" {
		t.Error("no answer")
	}
	stdtest.Write(t, filepath.Join(folder, "bad.md"), "hello")
	when := time.Now().Add(time.Second).UTC().Format(time.RFC3339)
	stdtest.Write(t, filepath.Join(folder, "report.md"), "---\ntitle: Report\nwhen: "+when+"\nchatKey: telegram-chat-1\n---\nSum up.\n")
	p.api.Await(t, "the report", func() bool { return times("did: Sum up.") == 1 })
	stdtest.Write(t, filepath.Join(folder, "daily.md"), "---\ntitle: Daily\ncron: \"0 9 * * *\"\ntimezone: Asia/Shanghai\nchatKey: telegram-chat-1\n---\nSum up.\n")
	if text := c.say("/tasks", "Daily"); !strings.Contains(text, "09:00 CST, ") || strings.Contains(text, "Report") {
		t.Errorf("the tasks: %s", text)
	}
	if _, err := h.runTask(t.Context(), "daily", "me"); err != nil {
		t.Error(err)
	}
	p.api.Await(t, "the run by hand", func() bool { return times("did: Sum up.") == 2 })
	if _, err := h.runTask(t.Context(), "none", "me"); err == nil {
		t.Error("a task that is not there ran")
	}
	stdtest.Must(t, h.Stop(context.WithoutCancel(t.Context())))
	runs := func() []string {
		found, err := filepath.Glob(filepath.Join(p.dir, ".ship", "chat", "task-*"))
		stdtest.Must(t, err)
		return found
	}
	if len(runs()) != 2 {
		t.Errorf("the runs are %q, want two", runs())
	}
	age(t, runs()[0], 91)
	age(t, runs()[1], 89)
	young := runs()[1]
	p.start(t, Options{Model: c.script}, flags)
	faketest.Poll(t, "the old run to be deleted", func() bool { return slices.Equal(runs(), []string{young}) })
	c.say("are you there", "did: are you there")
	if times("Tea is ready.") != 1 || times("did: Sum up.") != 2 {
		t.Errorf("a restart repeats: %d, %d", times("Tea is ready."), times("did: Sum up."))
	}
	fires, err := TaskFires(filepath.Join(p.dir, ".ship")).Fires(t.Context())
	stdtest.Must(t, err)
	started := map[string]int{}
	for _, f := range fires {
		if f.Is == timetable.FireStarted {
			started[f.ID]++
		}
	}
	if len(started) != 3 {
		t.Errorf("got %v, want three fires", started)
	}
}
