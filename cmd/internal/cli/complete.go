package cli

import (
	"context"
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/cmd/internal/checkup"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/skills"
	"github.com/shipmyagent/shipmyagent/cmd/internal/host"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/persistence/filestore"
)

// completer lists the words that an argument may be, each with a description after a tab if it has one. It only reads
// the files of the project, and lists nothing if they cannot be read.
type completer func(ctx context.Context) []cobra.Completion

// complete makes shells complete the chats, tasks and skills that the usage lines of commands name, chats in flags,
// and the keys of settings.
func (a *app) complete(root *cobra.Command) {
	root.RegisterFlagCompletionFunc("set", func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) { //nolint:errcheck,gosec // the flag exists
		return settingKeys(), cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
	})
	for _, group := range root.Commands() {
		for _, cmd := range append(group.Commands(), group) {
			a.completeArgs(cmd)
		}
	}
}

func (a *app) completeArgs(cmd *cobra.Command) {
	_, usage, _ := strings.Cut(cmd.Use, " ")
	usage = strings.TrimPrefix(usage, "[")
	var list completer
	switch group := cmd.Parent().Name(); {
	case strings.HasPrefix(usage, "CHAT"):
		list = a.chatKeys
	case strings.HasPrefix(usage, "ID") && group == "tasks" && cmd.Name() != "add":
		list = a.taskIDs
	case strings.HasPrefix(usage, "NAME") && group == "skills":
		list = func(ctx context.Context) []cobra.Completion { return skills.Names(ctx, a.Console) }
	}
	if list != nil {
		cmd.ValidArgsFunction = completion(list, strings.HasPrefix(usage, "CHAT..."))
	}
	if f := cmd.Flags().Lookup("chat"); f != nil && f.DefValue == "" && cmd.Name() != "import" { // elsewhere it names chats of the terminal, or new ones
		cmd.RegisterFlagCompletionFunc("chat", completion(a.chatKeys, true)) //nolint:errcheck,gosec // the flag exists
	}
}

// completion completes the first argument, or every one with another word.
func completion(list completer, several bool) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 && !several {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		words := slices.DeleteFunc(list(cmd.Context()), func(word string) bool {
			word, _, _ = strings.Cut(word, "\t")
			return slices.Contains(args, word)
		})
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

// chatKeys are the chats of the project with their names.
func (a *app) chatKeys(ctx context.Context) (out []cobra.Completion) {
	_, state, err := a.Folders(nil)
	if err != nil {
		return nil
	}
	inspector, err := filestore.Inspect(filestore.Options{Dir: state, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil
	}
	names := a.Names()
	for key, err := range inspector.Chats(ctx) {
		if err == nil {
			out = append(out, described(string(key), names.Of(key)))
		}
	}
	return out
}

// taskIDs are the tasks of the project with their titles.
func (a *app) taskIDs(ctx context.Context) (out []cobra.Completion) {
	_, state, err := a.Folders(nil)
	if err != nil {
		return nil
	}
	list, _, _ := host.TaskStore(state, "").Tasks(ctx) // without them there is nothing to complete
	for _, t := range list {
		out = append(out, described(t.ID, t.Title))
	}
	return out
}

func settingKeys() (out []cobra.Completion) {
	for _, key := range config.Keys() {
		out = append(out, key+"=")
	}
	return out
}

func described(word, text string) cobra.Completion {
	if text = checkup.OneLine(text, 48); text == "" {
		return word
	}
	return cobra.CompletionWithDesc(word, text)
}
