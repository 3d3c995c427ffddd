package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	terminal "github.com/shipmyagent/shipmyagent/adapters/platform/cli"
)

// textWith is the text of a message that may have files instead.
func (a *app) textWith(args, files []string) (string, error) {
	switch {
	case len(args) > 0 && (args[0] != "" || len(files) == 0):
		return a.textOf(args[0])
	case len(files) == 0:
		return "", &Failure{Code: CodeUsage, What: "the message is empty", Help: "sma send --help"}
	}
	for _, name := range files {
		if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
			return "", unreadable(name, err)
		}
	}
	return "", nil
}

func unreadable(name string, err error) error {
	if err == nil {
		err = errors.New("it is not an ordinary file")
	}
	return &Failure{Code: CodeUsage, What: "the file " + name + " cannot be sent", Why: err, Help: "sma send --file PATH 'What is this?'"}
}

// upload hands files to a chat before the message that names them.
func upload(ctx context.Context, client *terminal.Client, chat string, files []string) ([]terminal.File, error) {
	var out []terminal.File
	for _, name := range files {
		sent, err := uploadOne(ctx, client, chat, name)
		if err != nil {
			return nil, err
		}
		out = append(out, sent)
	}
	return out, nil
}

func uploadOne(ctx context.Context, client *terminal.Client, chat, name string) (terminal.File, error) {
	f, err := os.Open(name)
	if err != nil {
		return terminal.File{}, unreadable(name, err)
	}
	defer func() { _ = f.Close() }() // only read from
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return terminal.File{}, unreadable(name, err)
	}
	sent, err := client.Upload(ctx, chat, name, f)
	if _, refused := errors.AsType[*terminal.RefusedError](err); refused {
		return sent, &Failure{Code: CodeUsage, What: fmt.Sprintf("the file %s was not taken", filepath.Base(name)), Why: err, Help: "sma config show limits.fileMB"}
	}
	return sent, fromClient(err)
}
