// Package chats holds the commands about whole chats: list, show, export, import, fork, rewind, delete, verify, repair
// and search. Those that need the chats' files for themselves refuse to work while a host is running.
package chats

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// Commands is the command chats with its subcommands. They ask the running host, or read the files if no host runs;
// those that change files directly refuse to work while a host is running.
func Commands(a *console.Console) *cobra.Command {
	return console.Group(&cobra.Command{
		Use: "chats", Short: "List, explain, export, import, fork, rewind, verify and repair chats",
		Example: "  sma chats list\n  sma chats show telegram-chat-42    its messages, and what became of each",
	}, listCmd(a), showCmd(a), exportCmd(a), importCmd(a), forkCmd(a), rewindCmd(a), removeCmd(a), pauseCmd(a, true), pauseCmd(a, false), unloadCmd(a), restartCmd(a), verifyCmd(a), repairCmd(a))
}

func listCmd(a *console.Console) *cobra.Command {
	return console.Listing[query.ChatLine]{
		Name: "chats", Failed: "the chats cannot be listed", Answer: (*query.Desk).Chats, Text: func(lines []query.ChatLine) string { return chatsText(a, lines) },
		Chat: func(l *query.ChatLine) (messages.ChatKey, *string) { return l.ChatKey, &l.Name },
	}.On(a, &cobra.Command{
		Use: "list", Short: "List chats, most recently changed first", Args: cobra.NoArgs,
		Example: "  sma chats list\n  sma chats list --json",
	})
}

func chatsText(a *console.Console, lines []query.ChatLine) string {
	var out strings.Builder
	if len(lines) == 0 {
		out.WriteString(a.Text("there are no chats\n", "没有聊天\n"))
	}
	for _, l := range lines {
		changed := a.Text("no messages", "没有消息") // only commands, or its messages were deleted
		if !l.UpdatedAt.IsZero() {
			changed = l.UpdatedAt.Local().Format("2006-01-02 15:04")
		}
		paused := ""
		if l.Paused {
			paused = a.Text("  paused", "  已暂停")
		}
		fmt.Fprintf(&out, "%-16s  %s%s\n", changed, console.Named(l.ChatKey, l.Name), paused)
	}
	return out.String()
}

// readChat reads the chat that the arguments name.
func readChat(ctx context.Context, a *console.Console, args []string) (query.ChatDocument, error) {
	key, err := console.ChatArg(args)
	if err != nil {
		return query.ChatDocument{}, err
	}
	doc, err := console.Ask(ctx, a, "chat", query.Asked{ChatKey: key}, (*query.Desk).Chat)
	return doc, console.ChatFailure(key, "the chat cannot be read", "sma doctor", err)
}

// explained is the JSON of chats show.
type explained struct {
	ChatKey messages.ChatKey `json:"chatKey"`
	Running bool             `json:"running"`
	Paused  bool             `json:"paused,omitempty"`
	// Model and Effort are what people chose with the command model.
	Model   string                `json:"model,omitempty"`
	Effort  string                `json:"effort,omitempty"`
	Turns   int                   `json:"turns"`
	Waiting int                   `json:"waiting"`
	Counts  platform.Counts       `json:"counts"`
	Tokens  tokens                `json:"tokens"`
	Open    []openTurn            `json:"open"`
	Ledger  []journal.LedgerEntry `json:"ledger"`
	// Lines are the messages in both directions, in the order of their arrival.
	Lines []chatLine `json:"lines"`
}

// tokens are what the answers of the conversation have cost, as their providers say.
type tokens struct {
	Input  int64 `json:"input"`
	Cached int64 `json:"cached"` // of the input, read from the provider's cache
	Output int64 `json:"output"`
}

func tokensOf(list []uimessage.Message) (sum tokens) {
	for _, m := range list {
		if meta, err := uimessage.DecodeMetadata(m.Metadata); err == nil && meta.Usage != nil {
			sum.Input, sum.Cached, sum.Output = sum.Input+meta.Usage.InputTokens, sum.Cached+meta.Usage.CachedInputTokens, sum.Output+meta.Usage.OutputTokens
		}
	}
	return sum
}

// openTurn is a message without a fate so far.
type openTurn struct {
	ID       string    `json:"id"`
	At       time.Time `json:"at"`
	UserID   string    `json:"userId,omitempty"`
	Username string    `json:"username,omitempty"`
	Text     string    `json:"text"`
	// Waiting is set if the model has not read it; otherwise a run is working on it.
	Waiting bool `json:"waiting,omitempty"`
}

// openTurns are the messages since the end of the last run, and those that wait.
func openTurns(doc query.ChatDocument) []openTurn {
	out := []openTurn{}
	add := func(m uimessage.Message, waiting bool) {
		meta, _ := uimessage.DecodeMetadata(m.Metadata) // unreadable metadata is not shown
		out = append(out, openTurn{
			ID: m.ID, At: time.UnixMilli(meta.TS), UserID: meta.UserID, Username: meta.Username, Text: journal.Text(m), Waiting: waiting,
		})
	}
	for _, m := range doc.Messages {
		meta, _ := uimessage.DecodeMetadata(m.Metadata)
		switch {
		case m.Role == uimessage.RoleUser:
			add(m, false)
		case meta.Result != "" || meta.Kind == uimessage.KindSummary:
			out = out[:0]
		}
	}
	for _, m := range doc.Waiting {
		add(m, true)
	}
	return out
}

func showCmd(a *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use: "show CHAT", Short: "List the messages of a chat and what became of each", Args: cobra.ExactArgs(1),
		Long: "Shows how many messages were received and what became of them, then the latest messages in both directions, in the\n" +
			"order of their arrival. With --json all messages are shown in full, unless --last is given. With --follow new messages\n" +
			"and the steps of runs are added until Ctrl-C, with --json as one object per line; the host must be running.",
		Example: "  sma chats show telegram-chat-42\n  sma chats show telegram-chat--1001234567890 --last 50\n  sma chats show telegram-chat-42 -f",
	}
	last := cmd.Flags().Int("last", 20, "how many messages to show")
	followed := cmd.Flags().BoolP("follow", "f", false, "continue with what happens until Ctrl-C")
	shown := console.Command[explained]{
		Run: func(ctx context.Context, args []string) (explained, error) {
			if *last < 0 {
				return explained{}, negative(cmd)
			}
			if cmd.Flag("json").Value.String() == "true" && !cmd.Flag("last").Changed {
				*last = math.MaxInt
			}
			return explainedChat(ctx, a, args, *last)
		},
		Text: func(e explained) string { return e.text(a) },
	}.On(a, cmd).RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !*followed {
			return shown(cmd, args)
		}
		if *last < 0 {
			return negative(cmd)
		}
		return follow(cmd.Context(), &follower{Console: a, args: args, last: *last, asJSON: cmd.Flag("json").Value.String() == "true"})
	}
	return cmd
}

func negative(cmd *cobra.Command) error {
	return &console.Failure{Code: console.CodeUsage, What: "--last wants a number from 0 on", Help: cmd.CommandPath() + " --help"}
}

// explainedChat returns the chat that the arguments name, with its last messages.
func explainedChat(ctx context.Context, a *console.Console, args []string, last int) (explained, error) {
	doc, err := readChat(ctx, a, args)
	if err != nil {
		return explained{}, err
	}
	_, state, err := a.Folders(nil)
	if err != nil {
		return explained{}, err
	}
	// More lines are read than shown, because a message may have arrived long before its ledger line was written.
	ledger, err := query.Ledger(state, doc.ChatKey, max(last, ledgerRead))
	if err != nil {
		return explained{}, &console.Failure{Code: console.CodeFailed, What: "the ledger cannot be read", Why: err, Help: "sma doctor"}
	}
	out := explainChat(doc, ledger)
	out.Lines = out.Lines[max(0, len(out.Lines)-last):]
	out.Ledger = out.Ledger[max(0, len(out.Ledger)-last):]
	return out, nil
}

// ledgerRead is the minimum number of ledger lines that are read to sort them by arrival.
const ledgerRead = 2000

func explainChat(doc query.ChatDocument, ledger []journal.LedgerEntry) explained {
	return explained{
		ChatKey: doc.ChatKey, Running: doc.Running, Paused: doc.Paused, Model: doc.Model, Effort: doc.Effort, Turns: len(doc.Messages), Waiting: len(doc.Waiting),
		Counts: doc.Counts, Tokens: tokensOf(doc.Messages), Open: openTurns(doc), Ledger: append([]journal.LedgerEntry{}, ledger...),
		Lines: append([]chatLine{}, timeline(doc, ledger)...),
	}
}

// text writes the chat for people: the totals of received messages and their fates, then the messages.
func (e explained) text(a *console.Console) string {
	var out strings.Builder
	doing := a.Text("at rest", "空闲")
	if e.Running {
		doing = a.Text("a run is in progress", "正在处理")
	}
	if e.Paused {
		doing += a.Text(", paused", "，已暂停")
	}
	head := a.Text("%s: %s, %d turns, %d waiting, %d to be sent\n", "%s：%s，%d 条消息，%d 条等待，%d 条待发送\n")
	fmt.Fprintf(&out, head, e.ChatKey, doing, e.Turns, e.Waiting, e.Counts.Pending)
	if e.Model != "" || e.Effort != "" {
		chosen := strings.TrimSpace(cmp.Or(e.Model, decision.MainModel) + " " + e.Effort)
		fmt.Fprintf(&out, a.Text("chosen with /model: %s\n", "通过 /model 选择：%s\n"), chosen)
	}
	fmt.Fprintf(&out, a.Text("accepted %d = open %d", "收到 %d = 未决 %d"), e.Counts.Accepted, e.Counts.Open)
	for _, fate := range slices.Sorted(maps.Keys(e.Counts.Fates)) {
		fmt.Fprintf(&out, " + %s %d", stateWord(a, string(fate)), e.Counts.Fates[fate])
	}
	out.WriteByte('\n')
	if t := e.Tokens; t.Input > 0 {
		fmt.Fprintf(&out, a.Text("tokens %d in, %d of them from the provider's cache, %d out\n", "token：输入 %d（其中 %d 来自模型服务的缓存），输出 %d\n"), t.Input, t.Cached, t.Output)
	}
	for _, l := range e.Lines {
		out.WriteString(lineText(a, l))
	}
	return out.String()
}

func exportCmd(a *console.Console) *cobra.Command {
	return console.Command[query.ChatDocument]{
		Run: func(ctx context.Context, args []string) (query.ChatDocument, error) { return readChat(ctx, a, args) },
		Text: func(doc query.ChatDocument) string {
			var out []byte
			for _, m := range slices.Concat(doc.Messages, doc.Waiting) {
				out = append(uimessage.AppendJSON(out, m), '\n')
			}
			return string(out)
		},
	}.On(a, &cobra.Command{
		Use: "export CHAT", Short: "Export the messages of a chat, one JSON object per line", Args: cobra.ExactArgs(1),
		Example: "  sma chats export web-chat-x > chat.jsonl\n  sma chats export telegram-chat-42 --json > chat.json",
	})
}
