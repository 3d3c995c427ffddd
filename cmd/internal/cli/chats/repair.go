package chats

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/cmd/internal/agentdir"
	"github.com/shipmyagent/shipmyagent/cmd/internal/checkup"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
)

// remedyText describes what a repair does, or would do.
func remedyText(r filestore.Remedy) string {
	switch r {
	case filestore.RemedyMark:
		return "keeps every intact turn and marks the gap"
	case filestore.RemedyClose:
		return "keeps every intact record"
	case filestore.RemedyRebuild:
		return "makes it again from history, archives and ledger"
	default:
		return "leaves it: restore the file from a backup"
	}
}

// verified is the JSON of chats verify.
type verified struct {
	OK    bool               `json:"ok"`
	Chats []filestore.Report `json:"chats"`
}

func verifyCmd(a *console.Console) *cobra.Command {
	return console.Command[verified]{
		Run: func(ctx context.Context, args []string) (verified, error) {
			_, state, err := a.Folders(nil)
			if err != nil {
				return verified{}, err
			}
			return verifyChats(ctx, state, args, a.Progress(a.Text("chats verified", "个聊天已检查")))
		},
		Text: func(v verified) string { return a.Words(v.text()) }, Verdict: verified.failure,
	}.On(a, &cobra.Command{
		Use: "verify [CHAT...]", Short: "Check every record of chats, changing nothing",
		Long: "Checks every record of the named chats, or of all chats, and reports what is damaged, where, and what a repair would\n" +
			"do. Changes nothing. Works while the host is running.",
		Example: "  sma chats verify\n  sma chats verify telegram-chat-42 --json",
	})
}

func verifyChats(ctx context.Context, state string, names []string, progress func(done, of int)) (verified, error) {
	out := verified{OK: true, Chats: []filestore.Report{}}
	inspector, err := filestore.Inspect(filestore.Options{Dir: state})
	if err != nil {
		return out, &console.Failure{Code: console.CodeFailed, What: "the chats cannot be read", Why: err, Help: "sma doctor"}
	}
	keys, err := chosen(names, inspector.Chats(ctx))
	if err != nil {
		return out, err
	}
	for i, key := range keys {
		progress(i, len(keys))
		report, err := inspector.Verify(ctx, key)
		if err != nil {
			return out, console.ChatFailure(key, "the chat "+string(key)+" cannot be read", "sma doctor", err)
		}
		out.OK = out.OK && report.Refused == "" && len(report.Damage()) == 0
		out.Chats = append(out.Chats, report)
	}
	progress(len(keys), len(keys))
	return out, nil
}

// chosen are the named chats, each once, or all chats if no name is given.
func chosen(names []string, all iter.Seq2[messages.ChatKey, error]) ([]messages.ChatKey, error) {
	var keys []messages.ChatKey
	for _, name := range names {
		key, err := console.ChatArg([]string{name})
		if err != nil {
			return nil, err
		}
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	if len(names) > 0 {
		return keys, nil
	}
	for key, err := range all {
		if err != nil {
			return nil, &console.Failure{Code: console.CodeFailed, What: "the chats cannot be listed", Why: err}
		}
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys, nil
}

// text writes the reports for people: one line for an intact chat, more for others.
func (v verified) text() string {
	var out strings.Builder
	for _, r := range v.Chats {
		records := 0
		for _, f := range r.Files {
			records += f.Records
		}
		verdict := "sound"
		if n := len(r.Damage()); n > 0 {
			verdict = plural(n, "damaged place")
		}
		fmt.Fprintf(&out, "%s: %s (%s, %s)\n", r.ChatKey, verdict, plural(r.Turns, "turn"), plural(records, "record"))
		if r.Refused != "" {
			fmt.Fprintf(&out, "  this version cannot use it: %s\n", checkup.OneLine(r.Refused, 200))
		}
		for _, f := range r.Files {
			for _, d := range f.Damage {
				fmt.Fprintf(&out, "  %s:%d  %s  %s\n", d.File, d.Offset, plural(int(d.Bytes), "byte"), d.Why)
			}
			if len(f.Damage) > 0 {
				fmt.Fprintf(&out, "      a repair %s\n", remedyText(f.Remedy))
			}
		}
	}
	if len(v.Chats) == 0 {
		out.WriteString("there are no chats\n")
	}
	return out.String()
}

// failure says how many chats are damaged and which command repairs them. It is nil if all are intact.
func (v verified) failure() error {
	if v.OK {
		return nil
	}
	var bad, mend []string
	for _, r := range v.Chats {
		if r.Refused != "" || len(r.Damage()) > 0 {
			bad = append(bad, string(r.ChatKey))
		}
		if r.Repairable() && r.Refused == "" {
			mend = append(mend, string(r.ChatKey))
		}
	}
	f := &console.Failure{Code: console.CodeFailed, What: plural(len(bad), "chat") + " with damage"}
	switch {
	case len(mend) == 1:
		f.Help = "sma chats repair " + mend[0]
	case len(mend) > 1:
		f.Help = "sma chats repair --all"
	}
	return f
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func repairCmd(a *console.Console) *cobra.Command {
	cmd := &cobra.Command{
		Use: "repair CHAT...|--all", Short: "Repair damaged chats; unreadable parts are moved to quarantine",
		Long: "Copies each damaged file to messages/quarantine of its chat and then writes it again without the damage. A message\n" +
			"marks each gap in the history. Undamaged chats are not changed. Stop the host first.",
		Example: "  sma chats repair telegram-chat-42\n  sma chats repair --all",
	}
	all := cmd.Flags().Bool("all", false, "repair every damaged chat")
	return console.Command[[]filestore.Repaired]{
		Run: func(ctx context.Context, args []string) ([]filestore.Repaired, error) {
			if *all == (len(args) > 0) {
				return nil, &console.Failure{Code: console.CodeUsage, What: "say which chats, or --all", Help: "sma chats verify"}
			}
			dir, state, err := a.Folders(nil)
			if err != nil {
				return nil, err
			}
			return repairChats(ctx, a, dir, state, args)
		},
		List: "chats", Text: func(done []filestore.Repaired) string { return a.Words(repairedText(done)) },
		Verdict: func(done []filestore.Repaired) error {
			if slices.ContainsFunc(done, func(r filestore.Repaired) bool { return len(r.Left) > 0 }) {
				return &console.Failure{Code: console.CodeFailed, What: "not everything could be repaired"}
			}
			return nil
		},
	}.On(a, cmd)
}

func repairChats(ctx context.Context, a *console.Console, dir, state string, names []string) ([]filestore.Repaired, error) {
	done := []filestore.Repaired{}
	if _, err := console.NewControl(state).Status(ctx); !errors.Is(err, console.ErrNotRunning) {
		return nil, busy(nil)
	}
	if _, err := os.Stat(filepath.Join(state, "chat")); errors.Is(err, os.ErrNotExist) {
		if len(names) > 0 {
			return nil, repairFailure(messages.ChatKey(names[0]), persistence.ErrNotFound)
		}
		return done, nil
	}
	store, err := filestore.Open(filestore.Options{Dir: state, Logger: a.Logger(slog.LevelError)})
	switch {
	case errors.Is(err, persistence.ErrLocked):
		return nil, busy(err)
	case err != nil:
		return nil, &console.Failure{Code: console.CodeFailed, What: "the chats cannot be repaired", Why: err, Help: "sma doctor"}
	}
	keys, err := chosen(names, store.Chats(ctx))
	progress := a.Progress(a.Text("chats repaired", "个聊天已修复"))
	for i, key := range keys {
		progress(i, len(keys))
		var r filestore.Repaired
		if r, err = store.Repair(ctx, key, filestore.RepairOptions{Gap: gapText(dir)}); err != nil {
			err = repairFailure(key, err)
			break
		}
		if len(names) > 0 || len(r.Files)+len(r.Left) > 0 {
			done = append(done, r)
		}
	}
	progress(len(keys), len(keys))
	return done, errors.Join(err, store.Close())
}

func busy(why error) error {
	return &console.Failure{
		Code: console.CodeRunning, What: "a host works on these chats; they can be repaired while it is stopped", Why: why,
		Help: "stop it, then the same again",
	}
}

func repairFailure(key messages.ChatKey, err error) error {
	return console.ChatFailure(key, "the chat "+string(key)+" cannot be repaired", "sma chats verify "+string(key), err)
}

// gapText is the text that people and the model read in place of missing turns, in the project's language.
func gapText(dir string) func(lost int64) string {
	agent, _ := os.ReadFile(filepath.Join(dir, "Agent.md")) // without one, English
	if !agentdir.Chinese(string(agent)) {
		return nil
	}
	return func(lost int64) string {
		return fmt.Sprintf("〔这里缺少一段对话：有 %d 字节无法读取，已另行保存。〕", lost)
	}
}

func repairedText(done []filestore.Repaired) string {
	var out strings.Builder
	for _, r := range done {
		if len(r.Files)+len(r.Left) == 0 {
			fmt.Fprintf(&out, "%s: sound, nothing to do\n", r.ChatKey)
			continue
		}
		fmt.Fprintf(&out, "%s:\n", r.ChatKey)
		for _, f := range r.Files {
			lost := int64(0)
			for _, p := range f.Pieces {
				lost += p.Bytes
			}
			fmt.Fprintf(&out, "  %s: repaired, %s set aside; as it was: messages/quarantine/%s\n", f.File, plural(int(lost), "byte"), f.Backup)
		}
		for _, d := range r.Left {
			fmt.Fprintf(&out, "  %s:%d  %s: left as it is, restore the file from a backup\n", d.File, d.Offset, d.Why)
		}
	}
	if len(done) == 0 {
		out.WriteString("nothing to repair\n")
	}
	return out.String()
}
