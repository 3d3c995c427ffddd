package cli

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/cmd/internal/checkup"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
	"github.com/shipmyagent/shipmyagent/config"
)

//go:embed template
var templates embed.FS

type made struct {
	Path    string `json:"path"`
	Created bool   `json:"created"` // false if the file existed, which is left unchanged
}

func (a *app) initCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "init [dir]", Short: "Turn a folder into an agent", Args: cobra.MaximumNArgs(1),
		Long:    "Writes a first Agent.md and ship.json. Existing files are never changed.",
		Example: "  sma init\n  sma init ./mybot --name Ada",
	}
	name := cmd.Flags().String("name", "", "the agent's `name` (default: the folder's)")
	var dir string
	return console.Command[[]made]{
		Run: func(_ context.Context, args []string) ([]made, error) {
			if dir = a.Dir; len(args) > 0 {
				dir = args[0]
			}
			files, err := initProject(dir, *name)
			return files, console.Failure{Code: console.CodeFailed, What: "the project cannot be written", Help: "sma init FOLDER, where this user can write and there is room"}.Because(err)
		},
		List: "files",
		Text: func(files []made) string {
			var out strings.Builder
			for _, f := range files {
				word := a.Text("kept", "保留")
				if f.Created {
					word = a.Text("created", "新建")
				}
				fmt.Fprintf(&out, "%-8s %s\n", word, f.Path)
			}
			a.Say(a.Text(
				"Next: write down in Agent.md who the agent is, set OPENAI_API_KEY, then: sma run %s",
				"下一步：在 Agent.md 中写明智能体是谁，设置 OPENAI_API_KEY，然后运行：sma run %s",
			), checkup.ShellWord(dir))
			return out.String()
		},
	}.On(a.Console, cmd)
}

// initProject writes the missing files of a project.
func initProject(dir, name string) ([]made, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	name = strings.Join(strings.Fields(cmp.Or(name, filepath.Base(abs))), " ")
	quoted, err := json.Marshal(name)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, errors.New(dir + " is not a folder")
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(dir, ".ship"), 0o700); err != nil {
		return nil, err
	}
	fill := strings.NewReplacer("{{.Name}}", name, "{{.JSON}}", string(quoted))
	var out []made
	for _, f := range []struct{ name, from string }{{"Agent.md", "Agent.md"}, {"ship.json", "ship.json"}, {".gitignore", "gitignore"}} {
		text, err := templates.ReadFile("template/" + f.from)
		if err != nil {
			return nil, err
		}
		m, err := create(filepath.Join(dir, f.name), []byte(fill.Replace(string(text))))
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	m, err := create(filepath.Join(dir, ".ship", "ship.schema.json"), config.Schema())
	return append(out, m), err
}

// create writes a file unless it exists. What cannot be written whole is removed, so that another try makes it anew.
func create(path string, text []byte) (made, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return made{Path: path}, nil
	}
	if err != nil {
		return made{}, err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return made{}, errors.Join(err, os.Remove(path))
	}
	return made{Path: path, Created: true}, nil
}
