// Package memory holds the commands that list, show, edit and forget memories. They work on the files; a running host
// reads a change with its next answer.
package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/cmd/internal/checkup"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/memfile"
	"github.com/shipmyagent/shipmyagent/persistence/memories"
)

// Commands is the command memory with its subcommands. They work on the files of the memory store, also while a host
// is running; a chat sees a change with its next answer.
func Commands(a *console.Console) *cobra.Command {
	return console.Group(&cobra.Command{
		Use: "memory", Short: "List, show, edit and forget what is remembered",
		Long: "MEMORY is project, user:PLATFORM-ID for a person, or the key of a chat. Works while the host is running; a chat uses the\n" +
			"change from its next answer on.",
		Example: "  sma memory list\n  sma memory show telegram-chat-42\n  sma memory forget user:telegram-42 tea",
	}, listCmd(a), showCmd(a), editCmd(a), forgetCmd(a))
}

// memory is one named memory with its current text.
type memory struct {
	store *memfile.Store
	name  string
	place memories.Place
	text  string
}

func openMemory(ctx context.Context, a *console.Console, name string) (memory, error) {
	_, state, err := a.Folders(nil)
	if err != nil {
		return memory{}, err
	}
	m := memory{store: query.Memories(state), name: name}
	if m.place, err = query.ParseMemory(name); err == nil {
		m.text, err = m.store.ReadMemory(ctx, m.place)
	}
	if errors.Is(err, os.ErrPermission) {
		return m, &console.Failure{Code: console.CodeFailed, What: "the memory cannot be read", Why: err, Help: "sma doctor"}
	}
	return m, console.Failure{Code: console.CodeUsage, What: "that is not a memory", Help: "sma memory list"}.Because(err)
}

// document is the JSON of memory show.
type document struct {
	Memory string `json:"memory"`
	Text   string `json:"text"`
}

// Read returns the JSON of memory show.
func Read(ctx context.Context, a *console.Console, name string) (any, error) {
	m, err := openMemory(ctx, a, name)
	return document{m.name, m.text}, err
}

// Write replaces a memory as an order of the console says, unless it has changed since the person saw it.
func Write(ctx context.Context, a *console.Console, order []byte) (any, error) {
	var o struct {
		document

		Was string `json:"was"`
	}
	if err := json.Unmarshal(order, &o); err != nil {
		return nil, &console.Failure{Code: console.CodeUsage, What: "the order cannot be read", Why: err}
	}
	m, err := openMemory(ctx, a, o.Memory)
	if err != nil {
		return nil, err
	}
	m.text = o.Was
	return o.document, m.replace(ctx, o.Text)
}

// replace writes a new text. The old text is kept in the folder backup next to it.
func (m memory) replace(ctx context.Context, text string) error {
	err := m.store.ReplaceMemory(ctx, m.place, m.text, text, true)
	if errors.Is(err, persistence.ErrMemoryChanged) {
		return &console.Failure{Code: console.CodeFailed, What: "the memory was changed meanwhile; nothing was written", Help: "sma memory show " + m.name}
	}
	return console.Failure{Code: console.CodeFailed, What: "the memory cannot be written", Help: "sma doctor"}.Because(err)
}

func listCmd(a *console.Console) *cobra.Command {
	return console.Command[[]query.MemoryLine]{
		Run: func(context.Context, []string) ([]query.MemoryLine, error) {
			_, state, err := a.Folders(nil)
			if err != nil {
				return nil, err
			}
			lines, err := query.ListMemories(state)
			return lines, console.Failure{Code: console.CodeFailed, What: "the memories cannot be read", Help: "sma doctor"}.Because(err)
		},
		List: "memories",
		Text: func(lines []query.MemoryLine) string { return listText(a, lines) },
	}.On(a, &cobra.Command{
		Use: "list", Short: "List the memories of the project, of people and of chats", Args: cobra.NoArgs, Example: "  sma memory list --json",
	})
}

func showCmd(a *console.Console) *cobra.Command {
	return console.Command[memory]{
		Run:  func(ctx context.Context, args []string) (memory, error) { return openMemory(ctx, a, args[0]) },
		JSON: func(m memory) any { return document{m.name, m.text} },
		Text: func(m memory) string {
			if m.text == "" {
				return a.Text("nothing is remembered\n", "没有记忆\n")
			}
			return strings.TrimRight(m.text, "\n") + "\n"
		},
	}.On(a, &cobra.Command{
		Use: "show MEMORY", Short: "Show what is remembered", Args: cobra.ExactArgs(1), Example: "  sma memory show telegram-chat-42\n  sma memory show project",
	})
}

func editCmd(a *console.Console) *cobra.Command {
	return a.Prints(&cobra.Command{
		Use: "edit MEMORY", Short: "Edit what is remembered, with $VISUAL or $EDITOR", Args: cobra.ExactArgs(1), Example: "  sma memory edit project",
		Long: "Opens a copy in the editor and saves it when the editor exits successfully, unless the memory has changed meanwhile.\n" +
			"The previous version is kept in the folder backup next to it.",
	}, func(ctx context.Context, args []string) (string, error) {
		m, err := openMemory(ctx, a, args[0])
		if err != nil {
			return "", err
		}
		text, err := edited(ctx, a, m.text)
		if err != nil || text == m.text {
			return "", err
		}
		return "", m.replace(ctx, text)
	})
}

// edited is the text after a person has edited it.
func edited(ctx context.Context, a *console.Console, text string) (string, error) {
	editor := strings.Fields(a.Variable("VISUAL", "EDITOR"))
	if len(editor) == 0 {
		return "", &console.Failure{Code: console.CodeUsage, What: "there is no editor", Help: "EDITOR=vi sma memory edit …"}
	}
	dir, err := os.MkdirTemp("", "sma-memory-")
	if err != nil {
		return "", &console.Failure{Code: console.CodeFailed, What: "a copy for the editor cannot be written", Why: err}
	}
	defer func() { _ = os.RemoveAll(dir) }() // only a copy
	file := filepath.Join(dir, "memory.md")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return "", &console.Failure{Code: console.CodeFailed, What: "a copy for the editor cannot be written", Why: err}
	}
	_, release := a.Interrupts() // in an editor, Ctrl-C is a key like others
	defer release()
	cmd := exec.CommandContext(ctx, editor[0], append(editor[1:], file)...) //nolint:gosec // the person's own editor
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.Stdin, a.Stdout, a.Stderr
	if err := cmd.Run(); err != nil {
		return "", &console.Failure{Code: console.CodeFailed, What: "the editor failed; nothing was written", Why: err}
	}
	out, err := os.ReadFile(file)
	return string(out), console.Failure{Code: console.CodeFailed, What: "the copy cannot be read"}.Because(err)
}

func forgetCmd(a *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use: "forget MEMORY [WORDS...]", Short: "Forget the lines that contain all the words, or everything", Args: cobra.MinimumNArgs(1),
		Long:    "The previous version is kept in the folder backup next to the memory. Delete that too if a person asks for it.",
		Example: "  sma memory forget telegram-chat-42 birthday\n  sma memory forget user:telegram-42 --all",
	}
	all := cmd.Flags().Bool("all", false, "forget everything in it")
	return console.Command[[]string]{
		Run: func(ctx context.Context, args []string) ([]string, error) {
			if *all == (len(args) > 1) {
				return nil, &console.Failure{Code: console.CodeUsage, What: "say which words, or --all", Help: "sma memory show " + args[0]}
			}
			m, err := openMemory(ctx, a, args[0])
			if err != nil {
				return nil, err
			}
			text, gone := forget(m.text, args[1:])
			if len(gone) > 0 {
				err = m.replace(ctx, text)
			}
			return gone, err
		},
		List: "forgotten",
		Text: func(gone []string) string {
			if len(gone) == 0 {
				return a.Text("nothing is remembered\n", "没有记忆\n")
			}
			return strings.Join(gone, "\n") + "\n"
		},
	}.On(a, cmd)
}

// forget returns the text without the lines that contain all the words, and those lines. Its front matter is kept
// unless everything is forgotten.
func forget(text string, words []string) (rest string, gone []string) {
	front, body := memories.FrontMatter(text)
	if len(words) == 0 {
		front, body = "", text
	}
	gone = []string{}
	var b strings.Builder
	for line := range strings.Lines(body) {
		if holds(line, words) {
			gone = append(gone, strings.TrimRight(line, "\r\n"))
			continue
		}
		b.WriteString(line)
	}
	return front + b.String(), gone
}

func holds(line string, words []string) bool {
	line = strings.ToLower(line)
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(line, strings.ToLower(w)) })
}

func listText(a *console.Console, lines []query.MemoryLine) string {
	if len(lines) == 0 {
		return a.Text("there are no memories\n", "还没有任何记忆\n")
	}
	var out strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&out, "%s  %6d B  %s\n", l.Changed.Local().Format(time.DateOnly+" 15:04"), l.Bytes, checkup.OneLine(l.Memory, 200))
	}
	return out.String()
}
