package chat_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/adapters/tool/chat"
	"github.com/shipmyagent/shipmyagent/adapters/tool/tooltest"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// answer is the result as the model reads it.
type answer struct {
	Delivered     bool
	Parts         int
	Skipped, Note string
}

// filesDir is a folder with a report, a hidden file, and links.
func filesDir(t *testing.T) string {
	t.Helper()
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "secret.txt")
	for path, text := range map[string]string{
		filepath.Join(dir, "own", "report.pdf"): "pdf", filepath.Join(dir, "own", "sub", "a.ogg"): "ogg",
		filepath.Join(dir, "own", ".env"): "KEY=1", outside: "secret",
	} {
		stdtest.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		stdtest.Must(t, os.WriteFile(path, []byte(text), 0o600))
	}
	stdtest.Must(t, os.Symlink(outside, filepath.Join(dir, "own", "link.txt")))
	return dir
}

// ownFiles are files whose chats all have the folder own.
func ownFiles(root string) tool.ChatFiles {
	return tool.ChatFiles{Root: root, Folder: func(messages.ChatKey) (string, error) { return "own", nil }}
}

// unnamed knows no chat names.
func unnamed(messages.ChatKey) string { return "" }

// invoke validates and runs one call as a run does.
func invoke(t *testing.T, tl tool.Tool, input string, run tool.Run, egress tool.Egress) (tool.Result, answer, error) {
	t.Helper()
	set, err := tool.NewSet(tl)
	stdtest.Must(t, err)
	if err := set.Validate(tl.Spec().Name, json.RawMessage(input)); err != nil {
		return tool.Result{}, answer{}, err
	}
	r, err := tl.Invoke(t.Context(), tool.Call{ID: "call-1", Name: tl.Spec().Name, Input: json.RawMessage(input), Run: run, Egress: egress})
	var a answer
	if err == nil {
		if err := json.Unmarshal(r.Output, &a); err != nil {
			t.Fatalf("output %s: %v", r.Output, err)
		}
	}
	return r, a, err
}

func TestSendSchemaIsWhatHostsExpect(t *testing.T) {
	var schema struct {
		Type       string
		Required   []string
		Properties map[string]struct{ Type string }
	}
	stdtest.Must(t, json.Unmarshal(chat.NewSend(chat.Options{}).Spec().InputSchema, &schema))
	if schema.Type != "object" || !cmp.Equal(schema.Required, []string{"text"}) || schema.Properties["text"].Type != "string" {
		t.Errorf("schema = %+v, want an object that requires the string text", schema)
	}
	for _, tl := range []tool.Tool{chat.NewSend(chat.Options{}), chat.NewContact(unnamed)} {
		if s := tl.Spec(); len(s.Description) < 100 || s.ReadOnly || s.Title == "" {
			t.Errorf("%s: spec = %+v", s.Name, s)
		}
	}
}

func TestSendGivesEverythingToTheOutbox(t *testing.T) {
	dir, egress := filesDir(t), &tooltest.Egress{}
	send := chat.NewSend(chat.Options{Files: ownFiles(dir)})
	r, a, err := invoke(t, send, `{"text":"**done**","replyTo":"17","attachments":[
		{"path":"own/report.pdf","kind":"document","caption":"the report"},{"path":"own/sub/a.ogg","kind":"voice"},{"fileId":"F1","kind":"photo"}]}`,
		tool.Run{Sole: true, LaneEmpty: true}, egress)
	stdtest.Must(t, err)
	want := []tooltest.Sent{{CallID: "call-1", Out: tool.Outgoing{Text: "**done**", ReplyTo: "17", Files: []messages.FileRef{
		{Path: filepath.Join(dir, "own", "report.pdf"), Kind: "document", Caption: "the report"},
		{Path: filepath.Join(dir, "own", "sub", "a.ogg"), Kind: "voice"},
		{FileID: "F1", Kind: "photo"},
	}}}}
	stdtest.Diff(t, "sent", want, egress.Sent())
	if !a.Delivered || a.Parts != 1 || r.Final || r.Summary != "**done**" {
		t.Errorf("result = %s, final %v, summary %q", r.Output, r.Final, r.Summary)
	}
}

func TestSendRefusesFiles(t *testing.T) {
	dir := filesDir(t)
	for name, file := range map[string]string{
		"outside":                  `{"path":"own/../x","kind":"document"}`,
		"of another chat":          `{"path":"report.pdf","kind":"document"}`,
		"absolute":                 `{"path":"/etc/passwd","kind":"document"}`,
		"a link that ends outside": `{"path":"own/link.txt","kind":"document"}`,
		"hidden":                   `{"path":"own/.env","kind":"document"}`,
		"below a hidden":           `{"path":"own/.git/config","kind":"document"}`,
		"a folder":                 `{"path":"own/sub","kind":"document"}`,
		"missing":                  `{"path":"own/nothing.txt","kind":"document"}`,
		"neither":                  `{"kind":"document"}`,
		"both":                     `{"path":"own/report.pdf","fileId":"F","kind":"document"}`,
		"an unknown kind":          `{"path":"own/report.pdf","kind":"film"}`,
	} {
		t.Run(name, func(t *testing.T) {
			egress := &tooltest.Egress{}
			_, _, err := invoke(t, chat.NewSend(chat.Options{Files: ownFiles(dir)}), `{"text":"x","attachments":[`+file+`]}`, tool.Run{}, egress)
			if !errors.Is(err, tool.ErrInput) || len(egress.Sent()) > 0 {
				t.Errorf("err = %v, sent %v; want nothing sent and %v", err, egress.Sent(), tool.ErrInput)
			}
		})
	}
}

// Each tool names the member of its own input that is at fault: the input of chat_send_file has no attachments.
func TestSendNamesTheMemberAtFault(t *testing.T) {
	o := chat.Options{Files: ownFiles(filesDir(t))}
	for _, tt := range []struct {
		tool        tool.Tool
		input, want string
	}{
		{chat.NewSendFile(o), `{"path":"own/../x"}`, "/path: "},
		{chat.NewSendFile(o), `{"path":"own/nothing.txt"}`, "/path: "},
		{chat.NewSend(o), `{"text":"x","attachments":[{"path":"own/report.pdf","kind":"document"},{"path":"own/../x","kind":"document"}]}`, "/attachments/1: "},
	} {
		if _, _, err := invoke(t, tt.tool, tt.input, tool.Run{}, &tooltest.Egress{}); !errors.Is(err, tool.ErrInput) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %s: %v; want %q", tt.tool.Spec().Name, tt.input, err, tt.want)
		}
	}
}

// A chat cannot send the files of another chat, even if it knows their names.
func TestPI6SendTakesFilesOfItsOwnChat(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{"results/a/own.txt", "results/a/sub/deep.txt", "results/ab/next.txt", "results/b/canary.txt", "top.txt"} {
		file := filepath.Join(dir, filepath.FromSlash(path))
		stdtest.Must(t, os.MkdirAll(filepath.Dir(file), 0o700))
		stdtest.Must(t, os.WriteFile(file, []byte(path), 0o600))
	}
	stdtest.Must(t, os.Symlink("../b/canary.txt", filepath.Join(dir, "results", "a", "link.txt")))
	keys := map[messages.ChatKey]string{"web-chat-a": "results/a", "web-chat-b": "results/b"}
	send := chat.NewSend(chat.Options{Files: tool.ChatFiles{Root: dir, Folder: func(key messages.ChatKey) (string, error) {
		if folder, ok := keys[key]; ok {
			return folder, nil
		}
		return "", errors.New("no such chat")
	}}})
	for _, tt := range []struct {
		key  messages.ChatKey
		path string
		ok   bool
	}{
		{"web-chat-a", "results/a/own.txt", true},
		{"web-chat-a", "results/a/sub/deep.txt", true},
		{"web-chat-b", "results/b/canary.txt", true},
		{"web-chat-a", "results/b/canary.txt", false},
		{"web-chat-a", "results/ab/next.txt", false},
		{"web-chat-a", "results/a/../b/canary.txt", false},
		{"web-chat-a", "results/a//../../b/canary.txt", false},
		{"web-chat-a", "./results/b/canary.txt", false},
		{"web-chat-a", "results/A/own.txt", false},
		{"web-chat-a", "results/a/link.txt", false},
		{"web-chat-a", "results/a/", false},
		{"web-chat-a", "results/a", false},
		{"web-chat-a", "top.txt", false},
		{"web-chat-c", "results/a/own.txt", false},
		{"", "results/a/own.txt", false},
	} {
		t.Run(string(tt.key)+" "+tt.path, func(t *testing.T) {
			egress := &tooltest.Egress{}
			input, err := json.Marshal(map[string]any{"text": "x", "attachments": []any{map[string]string{"path": tt.path, "kind": "document"}}})
			stdtest.Must(t, err)
			_, _, err = invoke(t, send, string(input), tool.Run{ChatKey: tt.key}, egress)
			sent := egress.Sent()
			if tt.ok {
				if err != nil || len(sent) != 1 || len(sent[0].Out.Files) != 1 || sent[0].Out.Files[0].Path != filepath.Join(dir, filepath.FromSlash(tt.path)) {
					t.Errorf("sent %+v, %v", sent, err)
				}
				return
			}
			if !errors.Is(err, tool.ErrInput) || len(sent) > 0 {
				t.Errorf("sent %+v, %v; want nothing and %v", sent, err, tool.ErrInput)
			}
		})
	}
}

func TestSendSaysWhatBecameOfIt(t *testing.T) {
	broken := errors.New("store is closed")
	sole := tool.Run{Sole: true, LaneEmpty: true}
	tests := []struct {
		name      string
		input     string
		run       tool.Run
		delivery  tool.Delivery
		fail      error
		wantFinal bool
		wantNote  string
		wantErr   error
	}{
		{name: "delivered and final", input: `{"text":"a","final":true}`, run: sole, delivery: tool.Delivery{Delivered: true, Parts: 2}, wantFinal: true},
		{name: "delivered, not final", input: `{"text":"a"}`, run: sole, delivery: tool.Delivery{Delivered: true, Parts: 1}},
		{name: "final beside another call", input: `{"text":"a","final":true}`, run: tool.Run{LaneEmpty: true}, delivery: tool.Delivery{Delivered: true}, wantNote: "only call"},
		{name: "final while turns wait", input: `{"text":"a","final":true}`, run: tool.Run{Sole: true}, delivery: tool.Delivery{Delivered: true}, wantNote: "new messages"},
		{name: "on its way and final", input: `{"text":"a","final":true}`, run: sole, delivery: tool.Delivery{Parts: 1}, wantFinal: true, wantNote: "1 parts are delivered"},
		{name: "sent before and final", input: `{"text":"a","final":true}`, run: sole, delivery: tool.Delivery{Skipped: "duplicate"}, wantFinal: true, wantNote: "not sent again"},
		{name: "limit is an answer", input: `{"text":"a","final":true}`, run: sole, delivery: tool.Delivery{Skipped: "limit"}, wantNote: "used up"},
		{name: "a file of another chat", input: `{"text":"a","attachments":[{"fileId":"F","kind":"photo"}],"final":true}`, run: sole, delivery: tool.Delivery{Skipped: "foreign_file"}, wantNote: "by its path"},
		{name: "another reason", input: `{"text":"a","final":true}`, run: sole, delivery: tool.Delivery{Skipped: "closed"}, wantNote: "Nothing was sent"},
		{name: "parked", input: `{"text":"a","final":true}`, run: sole, delivery: tool.Delivery{Parked: true}, wantNote: "refused"},
		{name: "empty text is an answer", input: `{"text":" \n ","final":true}`, run: sole, wantNote: "neither text nor a file"},
		{name: "the store fails", input: `{"text":"a","final":true}`, run: sole, fail: broken, wantErr: broken},
		{name: "no text at all", input: `{}`, wantErr: tool.ErrInput},
		{name: "a member that is not known", input: `{"text":"a","attachment":[]}`, wantErr: tool.ErrInput},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			egress := &tooltest.Egress{Answer: func(tooltest.Sent) (tool.Delivery, error) { return tt.delivery, tt.fail }}
			r, a, err := invoke(t, chat.NewSend(chat.Options{}), tt.input, tt.run, egress)
			if !errors.Is(err, tt.wantErr) {
				t.Fatalf("err = %v, want %v", err, tt.wantErr)
			}
			if r.Final != tt.wantFinal || !strings.Contains(a.Note, tt.wantNote) || (tt.wantNote == "" && a.Note != "") {
				t.Errorf("final = %v, note = %q; want %v, %q", r.Final, a.Note, tt.wantFinal, tt.wantNote)
			}
		})
	}
}

func TestSendFollowsItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	egress := &tooltest.Egress{Answer: func(tooltest.Sent) (tool.Delivery, error) { return tool.Delivery{}, ctx.Err() }}
	_, err := chat.NewSend(chat.Options{}).Invoke(ctx, tool.Call{ID: "c", Input: json.RawMessage(`{"text":"a"}`), Egress: egress})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v, want %v", err, context.Canceled)
	}
}

func TestContactAsks(t *testing.T) {
	run := func(key messages.ChatKey, platform, id string) tool.Run {
		return tool.Run{ChatKey: key, Asker: tool.Person{Platform: platform, ID: id, Name: "99"}}
	}
	tests := []struct {
		name string
		key  string
		run  tool.Run
		want tool.Decision
	}{
		{"the asker's private chat", "telegram-chat-42", run("telegram-chat--100", "telegram", "42"), tool.Allow},
		{"on a second account", "telegram@work-chat-42", run("telegram-chat--100", "telegram@home", "42"), tool.Allow},
		{"the chat of the run", "telegram-chat--100-topic-7", run("telegram-chat--100-topic-7", "telegram", "42"), tool.Allow},
		{"another topic", "telegram-chat--100-topic-8", run("telegram-chat--100-topic-7", "telegram", "42"), tool.Ask},
		{"another person", "telegram-chat-43", run("telegram-chat--100", "telegram", "42"), tool.Ask},
		{"a group with a negative id", "telegram-chat--1001234567890", run("telegram-chat-42", "telegram", "42"), tool.Ask},
		{"the same number elsewhere", "web-chat-42", run("telegram-chat--100", "telegram", "42"), tool.Ask},
		{"a room of the API that is named like the asker", "api-chat-support", run("api-chat-1", "api", "support"), tool.Ask},
		{"a name is not an id", "telegram-chat-99", run("telegram-chat--100", "telegram", "42"), tool.Ask},
		{"nobody asked", "telegram-chat-42", run("telegram-chat--100", "telegram", ""), tool.Ask},
		{"no chat", "42", run("telegram-chat--100", "telegram", "42"), tool.Ask},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			input, err := json.Marshal(map[string]string{"chatKey": tt.key, "text": "hi"})
			stdtest.Must(t, err)
			if got := tool.BySpec(chat.NewContact(unnamed), tool.Call{Input: input, Run: tt.run}); got.Decision != tt.want {
				t.Errorf("verdict = %+v, want %s", got, tt.want)
			}
		})
	}
}

func TestContactSends(t *testing.T) {
	tests := []struct {
		name    string
		input   string
		want    []tooltest.Sent
		wantErr error
	}{
		{
			"a group", `{"chatKey":"telegram-chat--1001234567890","text":"hi"}`,
			[]tooltest.Sent{{To: "telegram-chat--1001234567890", CallID: "call-1", Out: tool.Outgoing{Text: "hi"}}},
			nil,
		},
		{"empty text", `{"chatKey":"telegram-chat-1","text":"  "}`, nil, nil},
		{"no chat", `{"chatKey":"somewhere","text":"hi"}`, nil, tool.ErrInput},
		{"a task", `{"chatKey":"task-daily-20260102T0900","text":"hi"}`, nil, tool.ErrInput},
		{"bad bytes", `{"chatKey":"telegram-chat-\u0000","text":"hi"}`, nil, tool.ErrInput},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			egress := &tooltest.Egress{}
			_, _, err := invoke(t, chat.NewContact(unnamed), tt.input, tool.Run{}, egress)
			if !errors.Is(err, tt.wantErr) {
				t.Fatalf("err = %v, want %v", err, tt.wantErr)
			}
			stdtest.Diff(t, "sent", tt.want, egress.Sent())
		})
	}
}
