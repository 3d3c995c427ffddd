package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
	"github.com/shipmyagent/shipmyagent/persistence/chatpath"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/permission"
	"github.com/shipmyagent/shipmyagent/persistence/taskfile"
	"github.com/shipmyagent/shipmyagent/persistence/timetable"
)

const secretWord = "canary7q4zz"

// withSecret are the files below a folder that hold the canary, in letters of either case,
// and those whose name does.
func withSecret(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path != dir {
			return nil // it was deleted during the walk
		}
		if err != nil {
			return err
		}
		found := strings.Contains(path, secretWord)
		if e.Type().IsRegular() {
			raw, err := os.ReadFile(path)
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil {
				return err
			}
			found = found || bytes.Contains(bytes.ToLower(raw), []byte(secretWord))
		}
		if found {
			rel, _ := filepath.Rel(dir, path) // both are absolute
			out = append(out, rel)
		}
		return nil
	})
	stdtest.Must(t, err)
	return out
}

// fillChat puts the canary wherever something of a chat is kept.
func fillChat(t *testing.T, c *commandChat, h *Host) {
	t.Helper()
	state := filepath.Join(c.dir, ".ship")
	c.say("schedule "+`{"title":"Report","cron":"@manual","instructions":"`+secretWord+`"}`, "May I follow these instructions by myself")
	c.say("yes", "Came of it")
	tasks, _, err := c.tasks(state)
	if err != nil || len(tasks) != 1 {
		t.Fatalf("tasks %v, %v", tasks, err)
	}
	if _, err := h.runTask(t.Context(), tasks[0].ID, "me"); err != nil {
		t.Fatal(err)
	}
	c.api.Await(t, "the task", func() bool {
		return slices.ContainsFunc(c.texts(), func(s string) bool { return s == "did: "+secretWord })
	})
	c.say("archived "+secretWord, "did: archived")
	c.say("/new "+secretWord, "start afresh")
	c.say("hello "+secretWord, "did: hello")
	for _, file := range []string{
		"chat/telegram-chat-1/memory/Primary.md", "chat/telegram-chat-1/memory/backup/Primary-1.md", "chat/telegram-chat-1/messages/quarantine/x",
		"files/results/telegram-chat-1/voice.ogg", "memory/users/telegram-1.md", "memory/users/backup/telegram-1-1.md", "index/vectors.db",
	} {
		stdtest.Write(t, filepath.Join(state, file), secretWord)
	}
	stdtest.Must(t, query.Grants(state).SaveGrants(t.Context(), "telegram-chat-1", []permission.Grant{{N: 1, ID: "g", Rule: "echo " + secretWord}}))
	if lines, err := h.desk().Search(t.Context(), query.Asked{ChatKey: "telegram-chat-1", Words: secretWord}); err != nil || len(lines) == 0 {
		t.Fatalf("the index finds %v, %v", lines, err)
	}
	stdtest.Must(t, h.index.Discard(t.Context())) // as a file that is whole on the disk, then as one in use
	if _, err := h.desk().Search(t.Context(), query.Asked{ChatKey: "telegram-chat-1", Words: secretWord}); err != nil {
		t.Fatal(err)
	}
	if found := withSecret(t, state); len(found) < 14 {
		t.Fatalf("the canary is in %d files only: %q", len(found), found)
	}
}

func (c *commandChat) tasks(state string) ([]timetable.Task, []timetable.Problem, error) {
	return TaskStore(state, "").Tasks(context.Background())
}

// After a deletion nothing below the state folder contains the chat's texts: no history, archive, memory, file, index,
// task or log. The ids stay, so that a repeated message is recognised, and the chat continues with new messages.
func TestForgetLeavesNothing(t *testing.T) {
	p := newProject(t)
	flags := telegramFlags(p)
	flags["adapters.telegram.egress"], flags["permissions.exec.approvers"] = "direct", "initiator"
	c := &commandChat{project: p, t: t, script: modeltest.NewFunc(remindMe)}
	h := p.prepare(t, Options{Model: c.script}, flags)
	stdtest.Must(t, h.Start(t.Context()))
	state := filepath.Join(p.dir, ".ship")
	fillChat(t, c, h)
	c.say("/forget yes", "To delete, press the button") // nobody was asked yet
	c.say("/forget no", "Nothing was deleted.")
	c.say("/forget 确认", "永久删除") // a no ends the question
	if found := withSecret(t, state); len(found) < 14 {
		t.Fatalf("something was deleted before anybody agreed: %q are left", found)
	}
	c.say("/forget yes", "is deleted")
	c.api.Await(t, "the chats of the tasks", func() bool { return len(withSecret(t, state)) == 0 })
	before := len(c.script.Requests())
	if text := c.say("are you there", "did: are you there"); text == "" {
		t.Error("no answer")
	}
	if raw, _ := json.Marshal(c.script.Requests()[before:]); bytes.Contains(raw, []byte(secretWord)) {
		t.Errorf("a model reads what was deleted: %s", raw)
	}
	stdtest.Must(t, h.Stop(context.WithoutCancel(t.Context())))
	if found := withSecret(t, state); len(found) > 0 {
		t.Errorf("after the end the canary is in %q", found)
	}
	p.start(t, Options{Model: c.script}, flags)
	c.say("still there", "did: still there")
	c.api.Await(t, "no intent", func() bool {
		intents, _ := filepath.Glob(filepath.Join(state, "forgetting", "*", "*"))
		return len(intents) == 0
	})
}

// forgetStopped deletes a chat of a store that no host uses.
func forgetStopped(t *testing.T, state string, store *filestore.Store, key messages.ChatKey) error {
	t.Helper()
	d := query.Stopped(store, query.StoppedOptions{
		State: state, IndexLogger: slog.New(slog.DiscardHandler), Zone: func() (*time.Location, error) { return time.UTC, nil },
	})
	_, err := d.Forget(t.Context(), query.ForgetOrder{ChatKey: key})
	return err
}

// journalOf is a chat as its files describe it.
func journalOf(t *testing.T, store *filestore.Store, key messages.ChatKey) *journal.State {
	t.Helper()
	c, err := store.OpenChat(t.Context(), key)
	stdtest.Must(t, err)
	snap, err := c.Load(t.Context())
	stdtest.Must(t, err)
	state, err := journal.Replay(snap)
	stdtest.Must(t, err)
	stdtest.Must(t, c.Close())
	return state
}

// intend leaves an intent to delete a chat, as a process that crashed does.
func intend(t *testing.T, state string, f journal.Forgetting) {
	t.Helper()
	raw, err := json.Marshal(f)
	stdtest.Must(t, err)
	folder, err := chatpath.Encode(f.ChatKey)
	stdtest.Must(t, err)
	stdtest.Write(t, filepath.Join(state, "forgetting", filepath.FromSlash(folder), "intent.json"), string(raw))
}

// A deletion that a crash cut short is finished by the next start, whatever was gone by
// then; and a store that no host uses is deleted from in the same way.
func TestForgetIsFinishedByTheNextStart(t *testing.T) {
	for _, how := range []string{"intent alone", "folder gone", "stopped"} {
		t.Run(how, func(t *testing.T) {
			p := newProject(t)
			flags := telegramFlags(p)
			flags["adapters.telegram.egress"], flags["permissions.exec.approvers"] = "direct", "initiator"
			c := &commandChat{project: p, t: t, script: modeltest.NewFunc(remindMe)}
			h := p.prepare(t, Options{Model: c.script}, flags)
			stdtest.Must(t, h.Start(t.Context()))
			fillChat(t, c, h)
			stdtest.Must(t, h.Stop(context.WithoutCancel(t.Context())))
			state := filepath.Join(p.dir, ".ship")
			const key messages.ChatKey = "telegram-chat-1"
			store, err := filestore.Open(filestore.Options{Dir: state})
			stdtest.Must(t, err)
			was := journalOf(t, store, key)
			switch how {
			case "stopped":
				stdtest.Must(t, forgetStopped(t, state, store, key))
				if found := withSecret(t, state); len(found) > 0 {
					t.Errorf("the canary is in %q", found)
				}
			default:
				related, err := taskfile.NewLog(state).Chats(t.Context(), key)
				if err != nil || len(related) != 1 {
					t.Fatal(related, err)
				}
				for _, other := range related {
					intend(t, state, journal.Forgetting{Version: 1, ChatKey: other})
				}
				intend(t, state, was.Forgotten(key, time.Now(), "me", true, func(func(journal.LedgerEntry) bool) {}))
				if how == "folder gone" {
					stdtest.Must(t, os.RemoveAll(filepath.Join(state, "chat", string(key))))
				}
			}
			stdtest.Must(t, store.Close())
			p.start(t, Options{Model: c.script}, flags)
			if found := withSecret(t, state); len(found) > 0 {
				t.Errorf("after the start the canary is in %q", found)
			}
			before := len(c.script.Requests())
			c.say("still there", "did: still there")
			if n := len(c.script.Requests()) - before; n != 1 {
				t.Errorf("%d requests, want the one of the new message", n)
			}
		})
	}
}

// A chat that was left by /new has no turn of its person any more. What is remembered of them goes with it all the same.
func TestForgetAfterNewForgetsThePerson(t *testing.T) {
	for _, stopped := range []bool{false, true} {
		p := newProject(t)
		flags := telegramFlags(p)
		flags["adapters.telegram.egress"] = "direct"
		c := &commandChat{project: p, t: t, script: modeltest.NewFunc(remindMe)}
		h := p.prepare(t, Options{Model: c.script}, flags)
		stdtest.Must(t, h.Start(t.Context()))
		state := filepath.Join(p.dir, ".ship")
		stdtest.Write(t, filepath.Join(state, "memory", "users", "telegram-1.md"), "- "+secretWord)
		c.say("hello", "did: hello")
		c.say("/new", "start afresh")
		if !stopped {
			c.say("/forget", "delete")
			c.say("/forget yes", "is deleted")
		}
		stdtest.Must(t, h.Stop(context.WithoutCancel(t.Context())))
		if stopped {
			store, err := filestore.Open(filestore.Options{Dir: state})
			stdtest.Must(t, err)
			stdtest.Must(t, errors.Join(forgetStopped(t, state, store, "telegram-chat-1"), store.Close()))
		}
		if found := withSecret(t, state); len(found) > 0 {
			t.Errorf("stopped %t: %q is left", stopped, found)
		}
	}
}
