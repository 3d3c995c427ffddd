package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
	"github.com/shipmyagent/shipmyagent/adapters/platform/telegramtest"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// nodeScript is a script of testdata/e2e, to be run in a process group of its own.
func nodeScript(t *testing.T, env []string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	node := needNode(t)
	need(t, filepath.Join("testdata", "e2e", "node_modules", "telegram-test-api", "package.json"))
	need(t, filepath.Join("testdata", "e2e", "node_modules", "grammy", "package.json"))
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, node, args...)
	cmd.Dir = filepath.Join("testdata", "e2e")
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out := &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = out, out
	t.Cleanup(func() {
		if cmd.Process != nil {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what a failed script leaves behind; mostly nothing
		}
	})
	return cmd, out
}

var mark = regexp.MustCompile(`m-\d+-\d+`)

// repeatMarks answers with the marks of what was said since the last answer.
func repeatMarks(req model.Request) []model.Event {
	var found []string
	for _, m := range req.Messages {
		if m.Role == modelmessage.RoleAssistant {
			found = nil
		}
		if m.Role == modelmessage.RoleUser {
			found = append(found, mark.FindAllString(fmt.Sprint(m), -1)...)
		}
	}
	return append(modeltest.TextEvents("got "+strings.Join(found, " ")), modeltest.Finish("stop"))
}

// TestTelegramJudge runs the binary against an emulation of the Bot API by others.
func TestTelegramJudge(t *testing.T) {
	server := modeltest.NewServer(modeltest.NewFunc(repeatMarks), modeltest.ServerOptions{Key: "sk-test"})
	t.Cleanup(server.Close)
	dir := t.TempDir()
	settings, err := json.Marshal(map[string]any{
		"llm": map[string]any{"provider": "custom", "model": "fake", "baseUrl": server.URL, "apiKey": "sk-test"},
		"adapters": map[string]any{
			"telegram": map[string]any{
				"access": "open", "rateLimit": "off", "egress": "direct",
			},
			"web": map[string]any{"enabled": false},
		},
		"metrics": map[string]any{"listen": "off"},
		"context": map[string]any{"memory": map[string]any{"autoExtractEnabled": false}},
	})
	stdtest.Must(t, err)
	for name, text := range map[string]string{"ship.json": string(settings), "Agent.md": "# Test\n\nBe kind."} {
		stdtest.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	cmd, out := nodeScript(t, []string{"HOME=" + dir}, "telegram.mjs", dir)
	if err := cmd.Run(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	for _, fault := range server.Faults() {
		t.Errorf("a request broke the rules of strict providers: %v", fault)
	}
}

// TestFakeBotAPIServesAnotherLibrary: what our tests take for the service has to be
// good enough for a bot that was never written for it.
func TestFakeBotAPIServesAnotherLibrary(t *testing.T) {
	api := telegramtest.NewAPI(t)
	api.AddChat(telegramtest.Chat{ID: 7, Type: "private"})
	cmd, out := nodeScript(t, []string{"API_ROOT=" + api.URL(), "BOT_TOKEN=" + api.Token()}, "grammy.mjs")
	stdtest.Must(t, cmd.Start())
	t.Cleanup(func() {
		if t.Failed() {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // gone already is fine
			_ = cmd.Wait()
			for _, c := range api.Calls("") {
				t.Logf("%s %d", c.Method, c.Code)
			}
			t.Logf("the bot said:\n%s", out)
		}
	})
	seen := 0
	// say writes and returns the texts that are sent in answer.
	say := func(text string, answers int, more map[string]any) []string {
		t.Helper()
		api.Say(7, 7, text, more)
		var texts []string
		api.Await(t, "the answer to "+text, func() bool { return len(api.Sent(7)) >= seen+answers })
		for _, m := range api.Sent(7)[seen:] {
			texts = append(texts, m.Text)
		}
		seen += answers
		return texts
	}
	command := func(name string, answers int) []string {
		t.Helper()
		return say("/"+name, answers, map[string]any{"entities": []any{telegramtest.Entity("bot_command", 0, len(name)+1)}})
	}
	api.AddFile("doc", []byte("of the chat"))
	document := map[string]any{"text": nil, "document": map[string]any{"file_id": "doc", "file_unique_id": "udoc"}}
	for _, c := range []struct {
		name string
		got  []string
		want []string
	}{
		{"text", say("hello", 1, nil), []string{"echo: hello"}},
		{"markup", command("bold", 1), []string{"a bold <word>"}},
		{"upload", command("file", 1), []string{"a file"}},
		{"download", say("", 1, document), []string{"200 of the chat"}},
		{"typing", command("typing", 1), []string{"typed"}},
		{"refusals", command("wrong", 6), []string{"markup: 400", "empty: 400", "long: 400", "chat: 400", "message: 400", "file: 400"}},
	} {
		stdtest.Diff(t, c.name, c.want, c.got)
	}
	command("edit", 1)
	api.Await(t, "the edit", func() bool { return api.Sent(7)[seen-1].Text == "second" })
	command("keys", 1)
	keys := api.Sent(7)[seen-1]
	if want := [][]string{{"yes", "y", "no", "n"}}; !slices.EqualFunc(keys.Buttons, want, slices.Equal[[]string]) {
		t.Errorf("buttons %q", keys.Buttons)
	}
	api.Press(7, 7, keys.ID, "y", nil)
	api.Await(t, "what was chosen", func() bool {
		b := api.Sent(7)[seen-1].Buttons
		return len(b) == 1 && len(b[0]) == 2 && b[0][0] == "chosen y"
	})
	stdtest.Diff(t, "", []string{"bye"}, command("quit", 1))
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
