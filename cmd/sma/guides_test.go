package main

import (
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

// guides are the pages that are followed, and the commands of each that are not run here, because they need an account,
// a network or root. A page marks them: ```sh real.
var guides = map[string][]string{
	"tutorial.md":         installing,
	"tutorial.zh.md":      installing,
	"how-to/approvals.md": nil,
	"how-to/backup.md":    nil,
	"how-to/groups.md":    nil,
	"how-to/mcp.md":       {"sma mcp test files -C mybot", "sma mcp list -C mybot"},
	"how-to/skills.md":    nil,
	"how-to/upgrade.md":   {"git -C shipmyagent pull", "make -C shipmyagent build"},
	"how-to/voice.md":     {"sma doctor -C mybot", "sma run mybot"},
}

// installing gets the program, which the test has built already.
var installing = []string{
	"git clone https://github.com/shipmyagent/shipmyagent", "make -C shipmyagent build", `export PATH="$PWD/shipmyagent/bin:$PATH"`,
}

// unfollowed are how-tos that need root, a service manager or another program from their first step on.
var unfollowed = []string{"how-to/console.md", "how-to/install.md", "how-to/prometheus.md", "how-to/service.md", "how-to/traces.md"}

// The ids of the person who follows a page and of the group that they made.
const (
	reader = 1001
	group  = -1002
)

// TestGuides does what the tutorial and the how-tos say: commands succeed and print what the page shows, settings are
// accepted, and the bot says in its chats what the page shows. Telegram and the model are fakes.
func TestGuides(t *testing.T) {
	pages, err := filepath.Glob("../../docs/how-to/*.md")
	stdtest.Must(t, err)
	for _, page := range pages {
		name := "how-to/" + filepath.Base(page)
		if _, known := guides[name]; !known && !slices.Contains(unfollowed, name) {
			t.Errorf("%s is neither followed nor named as one that is not", name)
		}
	}
	for name, want := range guides {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGuide(t)
			if strings.HasPrefix(name, "tutorial.zh") {
				g.env = append(g.env, "LANG=zh_CN.UTF-8")
				g.person["language_code"] = "zh-hans"
			}
			list := blocks(readPage(t, filepath.Join("..", "..", "docs", name)))
			if !strings.HasPrefix(name, "tutorial") {
				g.prepare(t, list)
			}
			g.follow(t, list)
			if !slices.Equal(g.left, want) {
				t.Errorf("the page marks as real\n%q\nand the test leaves out\n%q", g.left, want)
			}
		})
	}
}

// guide is somebody who follows a page with a bot on a fake of Telegram.
type guide struct {
	pageReader
	person  map[string]any // as Telegram describes them
	service string         // the address of the model
	api     *telegramtest.API
	host    *exec.Cmd
	printed string        // by the commands of the newest block
	seen    map[int64]int // by chat: how many of the bot's messages the page has shown
	left    []string      // commands that are not run
}

func newGuide(t *testing.T) *guide {
	t.Helper()
	service := modeltest.NewServer(modeltest.NewFunc(obedient), modeltest.ServerOptions{})
	t.Cleanup(service.Close)
	g := &guide{person: telegramtest.User(reader, "Ann"), service: service.URL, api: telegramtest.NewAPI(t), seen: map[int64]int{}}
	g.dir = t.TempDir()
	g.env = []string{
		"PATH=" + filepath.Dir(binary(t)) + ":" + os.Getenv("PATH"), "HOME=" + g.dir,
		"SMA_ADAPTERS_TELEGRAM_BASE_URL=" + g.api.URL(), "SMA_ADAPTERS_TELEGRAM_EGRESS=direct", "SMA_ADAPTERS_TELEGRAM_RATE_LIMIT=off",
		"SMA_ADAPTERS_WEB_LISTEN=127.0.0.1:0", "SMA_METRICS_LISTEN=off", "SMA_PERMISSIONS_EXEC_SANDBOX=off",
	}
	g.api.AddChat(telegramtest.Chat{ID: reader, Type: "private"})
	g.api.AddChat(telegramtest.Chat{ID: group, Type: "supergroup", Title: "Team"})
	t.Cleanup(func() { g.stop() })
	return g
}

// prepare takes the steps of the tutorial that come before a how-to. The bot runs if the page shows chats.
func (g *guide) prepare(t *testing.T, list []block) {
	t.Helper()
	g.do(t, "sma init mybot")
	if !slices.ContainsFunc(list, func(b block) bool { return b.kind == "chat" }) {
		return
	}
	g.do(t, "export OPENAI_API_KEY=…")
	g.do(t, "export TELEGRAM_BOT_TOKEN=…")
	g.do(t, "sma run mybot")
	g.printed = g.do(t, "sma pair -C mybot")
	g.say(t, reader, "/start CODE")
}

// follow goes through the blocks of a page.
func (g *guide) follow(t *testing.T, list []block) {
	t.Helper()
	for _, b := range list {
		switch {
		case b.kind == "sh" && b.mark == "real":
			g.left = append(g.left, strings.Split(b.text, "\n")...)
		case b.kind == "sh" && strings.Contains(b.text, "<<"):
			g.printed = g.do(t, b.text)
		case b.kind == "sh":
			g.printed = ""
			for line := range strings.Lines(b.text) {
				g.printed += g.do(t, strings.TrimSpace(regexp.MustCompile(`\s+#.*`).ReplaceAllString(line, "")))
			}
		case b.kind == "text":
			wantShown(t, g.printed, b.text)
		case b.kind == "json":
			g.settings(t, b.text)
		case b.kind == "chat":
			g.chat(t, b)
		case b.kind == "crontab":
		default:
			t.Errorf("the page has a block of kind %q", b.kind)
		}
	}
}

// do runs a command of a page. A host runs until the page starts the next one.
func (g *guide) do(t *testing.T, line string) string {
	t.Helper()
	switch m := regexp.MustCompile(`^export (\w+)=…$`).FindStringSubmatch(line); {
	case line == "":
		return ""
	case m != nil: // it reaches the next start
		g.stop()
		value := map[string]string{"OPENAI_API_KEY": "canary-1234567890", "TELEGRAM_BOT_TOKEN": g.api.Token()}[m[1]]
		g.env = append(g.env, m[1]+"="+value, "SMA_LLM_BASE_URL="+g.service)
		return ""
	case line == "sma run mybot":
		g.start(t)
		return ""
	}
	out, err := g.run(t, line)
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return out
}

// start starts the bot in place of the one that runs.
func (g *guide) start(t *testing.T) {
	t.Helper()
	g.stop()
	g.host = exec.CommandContext(t.Context(), "sh", "-c", "exec sma run mybot")
	g.host.Dir, g.host.Env = g.dir, slices.Clone(g.env)
	untilReady(t, g.host)
}

// stop ends the bot, as Ctrl-C does.
func (g *guide) stop() {
	if g.host != nil {
		_ = syscall.Kill(-g.host.Process.Pid, syscall.SIGINT) // it may be gone
		_ = g.host.Wait()
		g.host = nil
	}
}

// settings writes ship.json and has it checked.
func (g *guide) settings(t *testing.T, text string) {
	t.Helper()
	stdtest.Must(t, os.WriteFile(filepath.Join(g.dir, "mybot", "ship.json"), []byte(text), 0o600))
	g.do(t, "sma config check -C mybot")
}

// chat plays what a page shows of a chat: a mark says which, the private one or the group.
func (g *guide) chat(t *testing.T, b block) {
	t.Helper()
	chat := int64(reader)
	if b.mark == "group" {
		chat = group
	}
	for line := range strings.Lines(b.text) {
		who, words, _ := strings.Cut(strings.TrimSpace(line), ":")
		words = strings.ReplaceAll(strings.TrimSpace(words), "@mybot_bot", "@"+telegramtest.BotName)
		switch who {
		case "you", "你":
			g.say(t, chat, words)
		case "bot", "机器人":
			g.wait(t, chat, words)
		case "you press", "你点击":
			g.press(t, chat, words)
		case "you add the bot", "你添加机器人":
			g.api.Member(chat, g.person, "member")
		default:
			t.Errorf("the page shows %q in a chat", line)
		}
	}
}

// say sends words to a chat. CODE is the code that the newest command printed.
func (g *guide) say(t *testing.T, chat int64, words string) {
	t.Helper()
	if m := regexp.MustCompile(`start=(\w+)`).FindStringSubmatch(g.printed); m != nil {
		words = strings.ReplaceAll(words, "CODE", m[1])
	}
	more := map[string]any{"from": g.person}
	kind := map[byte]string{'/': "bot_command", '@': "mention"}[words[0]]
	if kind != "" {
		more["entities"] = []any{map[string]any{"type": kind, "offset": 0, "length": len(strings.Fields(words)[0])}}
	}
	g.api.Say(chat, reader, words, more)
}

// wait waits until the bot has sent words in a chat, after those that the page has shown already. Dots match anything.
func (g *guide) wait(t *testing.T, chat int64, words string) {
	t.Helper()
	parts := strings.Split(words, "…")
	for i := range parts {
		parts[i] = strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(parts[i])), " ", `\s+`)
	}
	want := regexp.MustCompile("(?s)" + strings.Join(parts, ".*"))
	deadline := time.After(20 * time.Second)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		sent := g.api.Sent(chat)
		for i := g.seen[chat]; i < len(sent); i++ {
			if want.MatchString(sent[i].Text) {
				g.seen[chat] = i + 1
				return
			}
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("the page shows that the bot says %q, and it said %+v", words, sent)
		}
	}
}

// press presses a button below the newest message that has it.
func (g *guide) press(t *testing.T, chat int64, label string) {
	t.Helper()
	for _, m := range slices.Backward(g.api.Sent(chat)) {
		for _, row := range m.Buttons {
			if n := slices.Index(row, label); n >= 0 && n%2 == 0 {
				g.api.Press(chat, reader, m.ID, row[n+1], nil)
				return
			}
		}
	}
	t.Fatalf("the page has people press %q, and the chat has %+v", label, g.api.Sent(chat))
}

// orders are the calls that the fake model makes, by the words that ask for them.
var orders = map[string]modeltest.Call{
	"notes.md":   {ID: "write", Name: "write_file", Input: `{"path":"notes.md","content":"Buy milk.\n"}`},
	"git status": {ID: "status", Name: "exec_shell", Input: `{"command":"git status","why":"it was asked for"}`},
	"stretch":    {ID: "remind", Name: "task_create", Input: `{"title":"stretch","delay":"1s","say":"Time to stretch!"}`},
	"伸展":         {ID: "remind", Name: "task_create", Input: `{"title":"伸展","delay":"1s","say":"该伸展一下了！"}`},
}

// obedient is a model that makes the call that people ask for and then says that it is done.
func obedient(req model.Request) []model.Event {
	asked := 0
	for i, m := range req.Messages {
		if m.Role == modelmessage.RoleUser {
			asked = i
		}
	}
	said := fmt.Sprint(req.Messages[asked])
	say := func(en, zh string) []model.Event {
		if regexp.MustCompile(`\p{Han}`).MatchString(said) {
			en = zh
		}
		return append(modeltest.TextEvents(en), modeltest.Finish("stop"))
	}
	if asked < len(req.Messages)-1 {
		return say("Done.", "好了。")
	}
	for words, call := range orders {
		if strings.Contains(said, words) {
			return append(modeltest.CallEvents(call), modeltest.Finish("tool-calls"))
		}
	}
	return say("Hello, I am here.", "我在。")
}
