package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/cmd/internal/backup"
	"github.com/shipmyagent/shipmyagent/cmd/internal/checkup"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
	"github.com/shipmyagent/shipmyagent/messages"
)

func (a *app) backupCmd() *cobra.Command {
	return console.Command[backup.Report]{Run: a.backup, Text: a.backupText, Verdict: func(r backup.Report) error { return damage(r.Damaged) }}.On(a.Console, &cobra.Command{
		Use: "backup FOLDER", Short: "Copy the project and its state, also while a host runs", Args: cobra.ExactArgs(1),
		Long: "Copies the project's files and the state to a new folder, also while a host runs, and verifies the chats in the copy.\n" +
			"The copy has everything, also keys in .env and private texts: keep it where nobody else reads. Left out are the\n" +
			"search index, which is made again, old states (.ship.*), .git and node_modules.",
		Example: "  sma backup /var/backups/bot-2026-03-29\n  sma restore /var/backups/bot-2026-03-29 -C /srv/bot",
	})
}

func (a *app) backup(ctx context.Context, args []string) (backup.Report, error) {
	dir, state, err := a.Folders(nil)
	if err != nil {
		return backup.Report{}, err
	}
	to, err := filepath.Abs(args[0])
	if err != nil {
		return backup.Report{}, err
	}
	o := backup.Options{Project: dir, State: state, To: to, Version: buildVersion().Version, Progress: a.Progress(a.Text("chats copied", "个聊天已复制"))}
	report, err := backup.Save(ctx, o)
	return report, console.Failure{Code: console.CodeFailed, What: "the backup is not complete", Help: "another folder, which does not exist yet, outside of the project"}.Because(err)
}

func (a *app) backupText(r backup.Report) string {
	var out strings.Builder
	fmt.Fprintf(&out, a.Text("copied to %s: chats %d, files %d, bytes %d\n", "已复制到 %s：%d 个聊天，%d 个文件，%d 字节\n"), r.Folder, r.Chats, r.Files, r.Bytes)
	for _, name := range r.Skipped {
		fmt.Fprintf(&out, a.Text("left out, as it is neither a file nor a link: %s\n", "已略过，既不是文件也不是链接：%s\n"), name)
	}
	return out.String()
}

func (a *app) restoreCmd() *cobra.Command {
	var onlyState bool
	cmd := console.Command[backup.Restored]{
		Run: func(ctx context.Context, args []string) (backup.Restored, error) {
			return a.restore(ctx, args[0], onlyState)
		},
		Text: a.restoredText, Verdict: func(r backup.Restored) error { return damage(r.Damaged) },
	}.On(a.Console, &cobra.Command{
		Use: "restore FOLDER", Short: "Put a backup back where nothing is yet", Args: cobra.ExactArgs(1),
		Long: "Checks every file of a backup and puts it back into the project's folder, which is made if needed. Nothing is ever\n" +
			"replaced: move an old state out of the project first. Work in progress in the backup continues with the next start,\n" +
			"so people may get an answer a second time. Never run two hosts with the token of one bot.",
		Example: "  sma restore /var/backups/bot-2026-03-29 -C /srv/bot\n  mv .ship ../ship.old && sma restore /var/backups/bot-2026-03-29 --only-state",
	})
	cmd.Flags().BoolVar(&onlyState, "only-state", false, "leave the project's files as they are")
	return cmd
}

func (a *app) restore(ctx context.Context, from string, onlyState bool) (backup.Restored, error) {
	dir, err := filepath.Abs(a.Dir)
	if err != nil {
		return backup.Restored{}, err
	}
	state, err := a.State(dir)
	if err != nil {
		return backup.Restored{}, err
	}
	out, err := backup.Restore(ctx, backup.Target{From: from, Project: dir, State: state, OnlyState: onlyState})
	switch {
	case errors.Is(err, backup.ErrOccupied):
		return out, &console.Failure{Code: console.CodeUsage, What: "nothing was restored", Why: err, Help: "mv " + checkup.ShellWord(state) + " " + checkup.ShellWord(dir+".ship.old") + ", or restore to an empty folder with -C"}
	case errors.Is(err, backup.ErrNoBackup):
		return out, &console.Failure{Code: console.CodeFailed, What: "nothing was restored", Why: err, Help: "another backup"}
	}
	return out, console.Failure{Code: console.CodeFailed, What: "the backup was not restored", Help: "make room, or restore to a folder that this user can write, with -C"}.Because(err)
}

func (a *app) restoredText(r backup.Restored) string {
	return fmt.Sprintf(a.Text("files put back: %d, from the backup of %s\nNext: sma doctor, then sma run\n", "已恢复 %d 个文件，备份时间 %s\n下一步：sma doctor，然后 sma run\n"), r.Files, r.Made.Local().Format(time.DateTime))
}

// damage is the failure of a copy that has damaged chats.
func damage(keys []messages.ChatKey) error {
	if len(keys) == 0 {
		return nil
	}
	return &console.Failure{Code: console.CodeFailed, What: fmt.Sprintf("damaged chats, copied as they are: %d, the first is %s", len(keys), keys[0]), Help: "sma chats verify"}
}
