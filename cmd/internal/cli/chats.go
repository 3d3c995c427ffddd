package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/cmd/internal/host"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

func (a *app) chatsCmd() *cobra.Command {
	return group(&cobra.Command{
		Use: "chats", Short: "List, explain, export, import, fork, rewind, verify and repair chats",
		Example: "  sma chats list\n  sma chats show telegram-chat-42    what came in, and what became of it",
	}, a.chatsListCmd(), a.chatsShowCmd(), a.chatsExportCmd(), a.chatsImportCmd(), a.chatsForkCmd(), a.chatsRewindCmd(), a.chatsRemoveCmd(), a.chatsVerifyCmd(), a.chatsRepairCmd())
}

// source reads chats: from the host that runs, or from the store if none does.
type source struct {
	control control
	store   *filestore.Store // nil: a host runs
}

// withChats opens the chats of the project.
func (a *app) withChats(ctx context.Context, work func(s source, state string) error) error {
	_, state, err := a.folders(nil)
	if err != nil {
		return err
	}
	s := source{control: newControl(state)}
	_, err = s.control.status(ctx)
	switch {
	case err == nil:
		return work(s, state)
	case !errors.Is(err, errNotRunning):
		return noAnswer(err)
	}
	if _, err := os.Stat(state); errors.Is(err, fs.ErrNotExist) {
		return work(s, state) // nothing was ever kept; reading makes no folder
	}
	s.store, err = filestore.Open(filestore.Options{Dir: state, Logger: slog.New(slog.NewTextHandler(a.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))})
	if err != nil {
		code := CodeFailed
		if errors.Is(err, persistence.ErrLocked) {
			code = CodeRunning
		}
		return &Failure{Code: code, What: "the chats cannot be read", Why: err, Help: "sma status"}
	}
	return errors.Join(work(s, state), s.store.Close())
}

func (s source) list(ctx context.Context) ([]host.ChatLine, error) {
	if s.store != nil {
		return host.ListChats(ctx, s.store)
	}
	lines, err := s.control.chats(ctx)
	if errors.Is(err, errNotRunning) {
		return []host.ChatLine{}, nil
	}
	return lines, err
}

// read reads one chat, or fails for people.
func (s source) read(ctx context.Context, name string) (host.ChatDocument, error) {
	key, err := messages.ParseChatKey(name)
	if err != nil {
		return host.ChatDocument{}, &Failure{Code: CodeUsage, What: "that is no chat key", Why: err, Help: "sma chats list"}
	}
	var doc host.ChatDocument
	if s.store != nil {
		doc, err = host.ReadChat(ctx, s.store, key)
	} else {
		doc, err = s.control.chat(ctx, key)
	}
	switch {
	case errors.Is(err, platform.ErrNotFound), errors.Is(err, errNoChat), errors.Is(err, errNotRunning):
		return doc, &Failure{Code: CodeFailed, What: "there is no chat " + name, Help: "sma chats list"}
	case err != nil:
		return doc, &Failure{Code: CodeFailed, What: "the chat cannot be read", Why: err, Help: "sma doctor"}
	default:
		return doc, nil
	}
}

func (a *app) chatsListCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List the chats, the last changed first", Args: cobra.NoArgs,
		Example: "  sma chats list\n  sma chats list --json",
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withChats(c.Context(), func(s source, _ string) error {
				lines, err := s.list(c.Context())
				if err != nil {
					return &Failure{Code: CodeFailed, What: "the chats cannot be listed", Why: err}
				}
				if asJSON {
					return a.printJSON(struct {
						Chats []host.ChatLine `json:"chats"`
					}{lines})
				}
				var out strings.Builder
				if len(lines) == 0 {
					out.WriteString("there are no chats\n")
				}
				for _, l := range lines {
					changed := "no messages" // only commands, or all was deleted
					if !l.UpdatedAt.IsZero() {
						changed = l.UpdatedAt.Local().Format("2006-01-02 15:04")
					}
					fmt.Fprintf(&out, "%-16s  %s\n", changed, l.ChatKey)
				}
				return a.print(out.String())
			})
		},
	}
	addJSON(cmd, &asJSON)
	return cmd
}

// explained is the JSON of chats show.
type explained struct {
	ChatKey messages.ChatKey      `json:"chatKey"`
	Running bool                  `json:"running"`
	Turns   int                   `json:"turns"`
	Waiting int                   `json:"waiting"`
	Counts  platform.Counts       `json:"counts"`
	Open    []openTurn            `json:"open"`
	Ledger  []journal.LedgerEntry `json:"ledger"`
	// Lines are the messages in both directions, in the order of their arrival.
	Lines []chatLine `json:"lines"`
}

// openTurn is a message that has no fate yet.
type openTurn struct {
	ID       string    `json:"id"`
	At       time.Time `json:"at"`
	UserID   string    `json:"userId,omitempty"`
	Username string    `json:"username,omitempty"`
	Text     string    `json:"text"`
	// Waiting: the model has not read it; otherwise a run works on it.
	Waiting bool `json:"waiting,omitempty"`
}

// openTurns are the messages behind the last run that has ended, and those that wait.
func openTurns(doc host.ChatDocument) []openTurn {
	out := []openTurn{}
	add := func(m uimessage.Message, waiting bool) {
		meta, _ := uimessage.DecodeMetadata(m.Metadata) // what cannot be read of it is not shown
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

func (a *app) chatsShowCmd() *cobra.Command {
	var asJSON bool
	var last int
	cmd := &cobra.Command{
		Use: "show CHAT", Short: "Say what came into a chat and what became of it", Args: cobra.ExactArgs(1),
		Long: "Writes how many messages came in and what became of them, then the last messages in both directions in the order\n" +
			"of their arrival. --json has all of them with their whole texts, unless --last is given.",
		Example: "  sma chats show telegram-chat-42\n  sma chats show telegram-chat--1001234567890 --last 50",
		RunE: func(c *cobra.Command, args []string) error {
			if last < 0 {
				return &Failure{Code: CodeUsage, What: "--last wants a number from 0 on", Help: c.CommandPath() + " --help"}
			}
			return a.withChats(c.Context(), func(s source, state string) error {
				doc, err := s.read(c.Context(), args[0])
				if err != nil {
					return err
				}
				if asJSON && !c.Flags().Changed("last") {
					last = math.MaxInt
				}
				// A line may have arrived long before it was settled, so that more are read than are shown.
				ledger, err := host.Ledger(state, doc.ChatKey, max(last, ledgerRead))
				if err != nil {
					return &Failure{Code: CodeFailed, What: "the ledger cannot be read", Why: err, Help: "sma doctor"}
				}
				out := explainChat(doc, ledger)
				out.Lines = lastLines(out.Lines, last)
				out.Ledger = out.Ledger[max(0, len(out.Ledger)-last):]
				if asJSON {
					return a.printJSON(out)
				}
				return a.print(out.text(chatWordsIn(a.readsChinese())))
			})
		},
	}
	addJSON(cmd, &asJSON)
	cmd.Flags().IntVar(&last, "last", 20, "how many messages to show")
	return cmd
}

// ledgerRead is how many lines of the ledger are read at least, to put them in order.
const ledgerRead = 2000

func explainChat(doc host.ChatDocument, ledger []journal.LedgerEntry) explained {
	return explained{
		ChatKey: doc.ChatKey, Running: doc.Running, Turns: len(doc.Messages), Waiting: len(doc.Waiting),
		Counts: doc.Counts, Open: openTurns(doc), Ledger: append([]journal.LedgerEntry{}, ledger...),
		Lines: append([]chatLine{}, timeline(doc, ledger)...),
	}
}

// text writes the chat for people: the conservation of its ingresses, then its messages.
func (e explained) text(w chatWords) string {
	var out strings.Builder
	doing := w.rest
	if e.Running {
		doing = w.running
	}
	fmt.Fprintf(&out, w.head, e.ChatKey, doing, e.Turns, e.Waiting, e.Counts.Pending)
	fmt.Fprintf(&out, w.accepted, e.Counts.Accepted, e.Counts.Open)
	for _, fate := range slices.Sorted(maps.Keys(e.Counts.Fates)) {
		fmt.Fprintf(&out, " + %s %d", w.state(string(fate)), e.Counts.Fates[fate])
	}
	out.WriteByte('\n')
	out.WriteString(w.lines(e.Lines))
	return out.String()
}

func (a *app) chatsExportCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "export CHAT", Short: "Write the messages of a chat, one JSON object a line", Args: cobra.ExactArgs(1),
		Example: "  sma chats export web-chat-x > chat.jsonl\n  sma chats export telegram-chat-42 --json > chat.json",
		RunE: func(c *cobra.Command, args []string) error {
			return a.withChats(c.Context(), func(s source, _ string) error {
				doc, err := s.read(c.Context(), args[0])
				if err != nil {
					return err
				}
				if asJSON {
					return a.printJSON(doc)
				}
				var out []byte
				for _, m := range slices.Concat(doc.Messages, doc.Waiting) {
					out = append(uimessage.AppendJSON(out, m), '\n')
				}
				return a.print(string(out))
			})
		},
	}
	addJSON(cmd, &asJSON)
	return cmd
}

// oneLine is the beginning of a text, harmless on a terminal.
func oneLine(text string, limit int) string {
	text = strings.Join(strings.Fields(text), " ")
	clean := strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return -1
		}
		return r
	}, text)
	if runes := []rune(clean); len(runes) > limit {
		return string(runes[:limit]) + "…"
	}
	return clean
}
