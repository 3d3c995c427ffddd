package commands

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/shipmyagent/shipmyagent/messages/stdtest"
)

// TestReferenceOfChatCommands: docs/reference/chat-commands.md has every listed command in both languages.
func TestReferenceOfChatCommands(t *testing.T) {
	rows := []string{
		"# Commands in chats", "",
		"What people send to the bot. `/help` lists those that work in the chat. [How they behave](../using.md#commands).", "",
		"发给机器人的命令；`/help` 列出当前聊天里可用的命令。", "",
		"| command | what it does | 命令 | 作用 | where |", "|---|---|---|---|---|",
	}
	for _, o := range orders(true) {
		if o.hidden {
			continue
		}
		usage := cmp.Or(o.usage, o.name)
		rows = append(rows, fmt.Sprintf("| %s | %s | %s | %s | %s |", code(usage), o.en, code(cmp.Or(o.zhUsage, usage)), o.zh, where(o)))
	}
	want := strings.Join(rows, "\n") + "\n"
	const file = "../../../docs/reference/chat-commands.md"
	if *update {
		stdtest.Must(t, os.WriteFile(file, []byte(want), 0o644))
	}
	got := stdtest.Read(t, file)
	if diff := gocmp.Diff(want, string(got)); diff != "" {
		t.Errorf("docs/reference/chat-commands.md (-code +file; go test ./cmd/internal/commands -run Reference -update writes it):\n%s", diff)
	}
}

// code is a usage as code in a cell of a table.
func code(usage string) string { return "`/" + strings.ReplaceAll(usage, "|", `\|`) + "`" }

// where says in which chats a command works.
func where(o order) string {
	var words []string
	if o.platform != "" {
		words = append(words, o.platform)
	}
	if o.groups {
		words = append(words, "groups")
	}
	if o.contexts {
		words = append(words, "with `context.contexts.enabled`")
	}
	if o.api {
		words = append(words, "also by HTTP")
	}
	return cmp.Or(strings.Join(words, ", "), "everywhere but by HTTP")
}
