package cli

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
)

type version struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Changed bool   `json:"changed,omitempty"` // built from a tree with uncommitted changes
	Go      string `json:"go"`
	System  string `json:"system"`
}

// String formats the version for people.
func (v version) String() string {
	commit := cmp.Or(v.Commit, "unknown")
	if v.Changed {
		commit += ", changed"
	}
	return fmt.Sprintf("sma %s (commit %s, %s, %s)", v.Version, commit, v.Go, v.System)
}

// buildVersion reads what the toolchain recorded in the binary.
func buildVersion() version {
	v := version{Version: "devel", Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if m := info.Main.Version; m != "" && m != "(devel)" {
		v.Version = m
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value[:min(len(s.Value), 12)]
		case "vcs.modified":
			v.Changed = s.Value == "true"
		}
	}
	return v
}

func (a *app) versionCmd() *cobra.Command {
	return console.Command[version]{
		Run:  func(context.Context, []string) (version, error) { return buildVersion(), nil },
		Text: func(v version) string { return v.String() + "\n" },
	}.On(a.Console, &cobra.Command{
		Use: "version", Short: "Print version, commit and Go version", Args: cobra.NoArgs,
		Example: "  sma version\n  sma version --json",
	})
}
