package web

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

func withCommands(o *Options) {
	o.Commands = []Command{{Name: "status", English: "how things are", Chinese: "状态", API: true}, {Name: "approve", English: "yes", Chinese: "同意"}}
	o.APIToken = func() string { return "api" }
}

// The host answers a command in the stream, as a message that is in no history.
func TestCommandIsAnsweredByTheHost(t *testing.T) {
	s := newServer(t, withCommands)
	stream := newSSE(t, s.do(t, "POST", "/api/chat", submit("c1", "u1", " /Status now ")))
	stream.want(
		`data: {"type":"start","messageId":"h:u1"}`, `data: {"type":"text-start","id":"0"}`, `data: {"type":"text-delta","id":"0","delta":"status now!"}`,
		`data: {"type":"text-end","id":"0"}`, `data: {"type":"finish","finishReason":"stop"}`, `data: [DONE]`, "")
	in := s.live.Next(t)
	want := platform.Inbound{Kind: platform.KindCommand, Command: platform.Command{Name: "status", Args: "now"}, IngressID: "u1", Text: "/status"}
	got := platform.Inbound{Kind: in.Kind, Command: in.Command, IngressID: in.IngressID, Text: in.Text}
	stdtest.Diff(t, "inbound", want, got)
	if res := s.do(t, "GET", "/api/chat/c1", ""); res.StatusCode != 404 {
		t.Errorf("the history answers %d, want that there is none", res.StatusCode)
	}
}

// A client that does not wait gets the host's answer with the receipt.
func TestCommandWithoutAStream(t *testing.T) {
	s := newServer(t, withCommands)
	got := readAll(t, s.do(t, "POST", "/api/chat", submit("c1", "u1", "/status"), "Prefer", "respond-async"))
	if strings.TrimSpace(got) != `{"turnId":"u1","answer":"status !"}` {
		t.Errorf("got %s", got)
	}
}

// The host also answers an unknown command.
func TestUnknownCommand(t *testing.T) {
	s := newServer(t, withCommands)
	readAll(t, s.do(t, "POST", "/api/chat", submit("c1", "u1", "/sta tus")))
	if in := s.live.Next(t); in.Kind != platform.KindCommand || in.Command != (platform.Command{Name: "sta", Args: "tus"}) {
		t.Errorf("taken as %s %+v", in.Kind, in.Command)
	}
}

// Everything else goes to the model, and so do edits of turns.
func TestWhatIsNoCommand(t *testing.T) {
	for _, text := range []string{"status", "//status", "/status@bot", "say /status", "/", "/ status", "/" + strings.Repeat("a", 40), "/состояние"} {
		s := newServer(t, withCommands)
		s.live.OnAccept = s.live.Echo
		readAll(t, s.do(t, "POST", "/api/chat", submit("c1", "u1", text)))
		if in := s.live.Next(t); in.Kind != platform.KindMessage || in.Text != text {
			t.Errorf("%q was taken as %s %q", text, in.Kind, in.Text)
		}
	}
	s := newServer(t, withCommands)
	s.live.OnAccept = s.live.Echo
	s.live.Seed(key, "u1", "a1")
	readAll(t, s.do(t, "POST", "/api/chat", strings.Replace(submit("c1", "u1", "/status"), `"trigger"`, `"messageId":"u1","trigger"`, 1)))
	if in := s.live.Next(t); in.Kind != platform.KindMessage || in.TurnID != "u1" {
		t.Errorf("the edit of a turn was taken as %s of %s", in.Kind, in.TurnID)
	}
}

// Editing a command, which is in no history, sends it again.
func TestCommandEdited(t *testing.T) {
	s := newServer(t, withCommands)
	body := strings.Replace(submit("c1", "u9", "/status"), `"trigger"`, `"messageId":"u9","trigger"`, 1)
	if got := readAll(t, s.do(t, "POST", "/api/chat", body)); !strings.Contains(got, "status !") {
		t.Errorf("got %s", got)
	}
	if in := s.live.Next(t); !strings.HasPrefix(in.IngressID, "u9~") {
		t.Errorf("the ingress is %s, want a fresh one", in.IngressID)
	}
}

// Programs may use the commands that make sense for them; decisions are for people.
func TestExecuteCommand(t *testing.T) {
	s := newServer(t, withCommands)
	var got executeResult
	res := s.do(t, "POST", "/api/execute", `{"instructions":"/status","messageId":"m1"}`, "Authorization", "Bearer api")
	if err := json.Unmarshal([]byte(readAll(t, res)), &got); err != nil || !got.Success || got.Output != "status !" || got.ToolCalls == nil {
		t.Errorf("got %+v, %v", got, err)
	}
	if in := s.live.Next(t); in.Kind != platform.KindCommand || in.ChatKey != "api-chat-default" {
		t.Errorf("taken as %s in %s", in.Kind, in.ChatKey)
	}
	s.live.OnAccept = s.live.Echo
	readAll(t, s.do(t, "POST", "/api/execute", `{"instructions":"/approve 1"}`, "Authorization", "Bearer api"))
	if in := s.live.Next(t); in.Kind != platform.KindMessage {
		t.Errorf("a program's /approve was taken as %s", in.Kind)
	}
}

// The page lists the commands in the reader's language.
func TestCommandsAreListed(t *testing.T) {
	s := newServer(t, withCommands)
	for language, want := range map[string]string{"en": "how things are", "zh-CN,zh": "状态"} {
		var info struct{ Commands []hint }
		stdtest.Must(t, json.Unmarshal([]byte(readAll(t, s.do(t, "GET", "/api/info", "", "Accept-Language", language))), &info))
		if len(info.Commands) != 2 || info.Commands[0] != (hint{"status", want}) {
			t.Errorf("%s: %+v", language, info.Commands)
		}
	}
}

func FuzzParseCommand(f *testing.F) {
	for _, s := range []string{"/status", "/ x", "/stop ALL", "/a\u00a0b", "/\x00", "//", "/Help me", "／stop。", "/a.b", "/.", "/stop! /stop"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		cmd, ok := parseCommand(text)
		if !ok {
			return
		}
		if !regexp.MustCompile(`^[a-z0-9_]{1,32}$`).MatchString(cmd.Name) {
			t.Errorf("%q gives the name %q", text, cmd.Name)
		}
		if again, ok := parseCommand("/" + cmd.Name + " " + cmd.Args); !ok || again != cmd {
			t.Errorf("%q gives %+v, and that gives %+v", text, cmd, again)
		}
	})
}
