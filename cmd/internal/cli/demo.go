package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
	"github.com/shipmyagent/shipmyagent/cmd/internal/host"
)

func (a *app) demoCmd() *cobra.Command {
	var listen string
	cmd := &cobra.Command{
		Use: "demo [dir]", Short: "Try it in the browser, without key or account", Args: cobra.MaximumNArgs(1),
		Long: "Starts the built-in demo project with the demo model, on this machine only. Nothing is sent anywhere. Its files are\n" +
			"deleted when it ends, unless you name a folder for them.",
		Example: "  sma demo\n  sma demo ./demo     keeps its chats; in another terminal: sma chat -C ./demo\n  sma demo --listen 127.0.0.1:3001",
		RunE: func(c *cobra.Command, args []string) error {
			err := a.demo(c.Context(), args, listen)
			f, ok := errors.AsType[*console.Failure](err)
			if ok && (f.Code == console.CodeUnreachable || f.Code == console.CodeConfig && c.Flag("listen").Changed) {
				f.Help = "sma demo --listen 127.0.0.1:3001"
			}
			return err
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:3000", "the `address` of the web chat, on this machine")
	return cmd
}

func (a *app) demo(ctx context.Context, args []string, listen string) error {
	a.outside = a.Env
	a.EnvNames = nil
	a.Env = func(string) (string, bool) { return "", false } // the demo must not use keys of this machine
	dir := ""
	if len(args) == 0 {
		temp, err := os.MkdirTemp("", "sma-demo-")
		if err != nil {
			return &console.Failure{Code: console.CodeFailed, What: "no folder for the demo can be made", Why: err}
		}
		defer func() { _ = os.RemoveAll(temp) }() // nothing depends on it any more
		dir = temp
	} else {
		dir = args[0]
	}
	if err := a.unpackDemo(dir); err != nil {
		return &console.Failure{Code: console.CodeFailed, What: "the demo project cannot be written", Why: err}
	}
	dir, state, err := a.Places([]string{dir})
	if err != nil {
		return err
	}
	return a.serve(ctx, host.Options{Dir: dir, State: state, Open: true}, map[string]string{
		"llm.provider": "demo", "adapters.web.listen": listen, "adapters.telegram.enabled": "false",
	})
}

// unpackDemo writes the files of the demo project that do not exist yet.
func (a *app) unpackDemo(dir string) error {
	if a.demoFS == nil {
		return errors.New("this binary has no demo project")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return fs.WalkDir(a.demoFS, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := fs.ReadFile(a.demoFS, path)
		if err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		to := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		_, err = create(to, text)
		return err
	})
}
