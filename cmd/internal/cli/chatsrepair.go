package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/cmd/internal/host"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
)

func (a *app) chatsRepairCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "repair CHAT...|--all", Short: "Make damaged chats whole; what cannot be read is set aside",
		Long: "Sets aside each damaged file as it is, in messages/quarantine of the chat, then writes it without the damage.\n" +
			"In the history a message marks each gap. Sound chats are left alone. No host may run meanwhile.",
		Example: "  sma chats repair telegram-chat-42\n  sma chats repair --all",
	}
	all := cmd.Flags().Bool("all", false, "repair every damaged chat")
	return command[[]filestore.Repaired]{
		run: func(ctx context.Context, args []string) ([]filestore.Repaired, error) {
			if *all == (len(args) > 0) {
				return nil, &Failure{Code: CodeUsage, What: "say which chats, or --all", Help: "sma chats verify"}
			}
			dir, state, err := a.folders(nil)
			if err != nil {
				return nil, err
			}
			return a.repairChats(ctx, dir, state, args)
		},
		list: "chats", text: repairedText,
		verdict: func(done []filestore.Repaired) error {
			if slices.ContainsFunc(done, func(r filestore.Repaired) bool { return len(r.Left) > 0 }) {
				return &Failure{Code: CodeFailed, What: "not everything could be repaired"}
			}
			return nil
		},
	}.on(a, cmd)
}

func (a *app) repairChats(ctx context.Context, dir, state string, names []string) ([]filestore.Repaired, error) {
	done := []filestore.Repaired{}
	if _, err := newControl(state).status(ctx); !errors.Is(err, errNotRunning) {
		return nil, busy(nil)
	}
	if _, err := os.Stat(filepath.Join(state, "chat")); errors.Is(err, os.ErrNotExist) {
		if len(names) > 0 {
			return nil, repairFailure(messages.ChatKey(names[0]), persistence.ErrNotFound)
		}
		return done, nil
	}
	store, err := filestore.Open(filestore.Options{Dir: state, Logger: a.logger(slog.LevelError)})
	switch {
	case errors.Is(err, persistence.ErrLocked):
		return nil, busy(err)
	case err != nil:
		return nil, &Failure{Code: CodeFailed, What: "the chats cannot be repaired", Why: err, Help: "sma doctor"}
	}
	keys, err := chosen(names, store.Chats(ctx))
	for _, key := range keys {
		var r filestore.Repaired
		if r, err = store.Repair(ctx, key, filestore.RepairOptions{Gap: gapText(dir)}); err != nil {
			err = repairFailure(key, err)
			break
		}
		if len(names) > 0 || len(r.Files)+len(r.Left) > 0 {
			done = append(done, r)
		}
	}
	return done, errors.Join(err, store.Close())
}

func busy(why error) error {
	return &Failure{
		Code: CodeRunning, What: "a host works on these chats; they can be repaired while it is stopped", Why: why,
		Help: "stop it, then the same again",
	}
}

func repairFailure(key messages.ChatKey, err error) error {
	return chatFailure(key, "the chat "+string(key)+" cannot be repaired", "sma chats verify "+string(key), err)
}

// gapText is what people and the model read where something is missing, in the
// language that the project speaks.
func gapText(dir string) func(lost int64) string {
	agent, _ := os.ReadFile(filepath.Join(dir, "Agent.md")) // without one, English
	if !host.Chinese(string(agent)) {
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
