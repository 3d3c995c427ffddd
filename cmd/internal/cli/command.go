package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// command declares a command with a result of type T: how to get the result and how to show it. The result is printed
// as text, or with --json as one JSON document.
type command[T any] struct {
	run  func(ctx context.Context, args []string) (T, error)
	text func(T) string
	// list names the member of the JSON document that holds the result. If both list and json are empty, the result
	// is the document.
	list string
	json func(T) any
	// verdict is the error that the command returns after the result was shown.
	verdict func(T) error
}

// on makes cmd run the command.
func (c command[T]) on(a *app, cmd *cobra.Command) *cobra.Command {
	var asJSON bool
	cmd.Flags().BoolVar(&asJSON, "json", false, "write one JSON document")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		answer, err := c.run(cmd.Context(), args)
		if err != nil {
			return err
		}
		if asJSON {
			err = a.printJSON(c.document(answer))
		} else {
			err = a.print(c.text(answer))
		}
		if err == nil && c.verdict != nil {
			err = c.verdict(answer)
		}
		return err
	}
	return cmd
}

func (c command[T]) document(answer T) any {
	switch {
	case c.json != nil:
		return c.json(answer)
	case c.list != "":
		return map[string]T{c.list: answer}
	default:
		return answer
	}
}

// prints makes cmd print a text that is the same for programs and people.
func (a *app) prints(cmd *cobra.Command, run func(ctx context.Context, args []string) (string, error)) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		text, err := run(cmd.Context(), args)
		if err != nil {
			return err
		}
		return a.print(text)
	}
	return cmd
}

// printJSON writes one indented document to stdout.
func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(a.Stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return &Failure{Code: CodeFailed, What: "stdout cannot be written", Why: err}
	}
	return nil
}

// chosenNumbers parses which numbered things of a chat a command is about: CHAT N…, or CHAT and --all. mark is an
// optional prefix of numbers, thing is what is numbered, and list is the command that lists them.
func chosenNumbers(args []string, all bool, mark, thing, list string) (numbers []int, err error) {
	help := list + " " + args[0]
	if all == (len(args) > 1) {
		return nil, &Failure{Code: CodeUsage, What: "say which ones, or --all", Help: help}
	}
	for _, arg := range args[1:] {
		n, err := strconv.Atoi(strings.TrimPrefix(arg, mark))
		if err != nil || n < 1 {
			return nil, &Failure{Code: CodeUsage, What: arg + " is no number of a " + thing, Help: help}
		}
		numbers = append(numbers, n)
	}
	return numbers, nil
}

// inLanguage chooses the value for the terminal's language.
func inLanguage[T any](a *app, english, chinese T) T {
	if a.readsChinese() {
		return chinese
	}
	return english
}

// readsChinese reports whether the terminal's language is Chinese.
func (a *app) readsChinese() bool {
	return strings.HasPrefix(a.env("LC_ALL", "LC_MESSAGES", "LANG"), "zh")
}

// The exit codes of all commands. A service manager should not restart after CodeUsage, CodeConfig and
// CodeCredential, since a retry would fail in the same way.
const (
	CodeOK          = 0
	CodeFailed      = 1   // anything else
	CodeUsage       = 2   // unknown command, flag or argument
	CodeConfig      = 3   // the settings or the project cannot be used
	CodeCredential  = 4   // a key or token was refused
	CodeUnreachable = 5   // a service cannot be reached, or a port is in use
	CodeRunning     = 6   // another process uses the same state folder
	CodeWaiting     = 7   // the agent waits for a person's decision
	CodeInterrupted = 130 // Ctrl-C; other signals also give 128 plus their number
)

// Failure is an error for people.
type Failure struct {
	Code int
	What string // what failed, as a full clause
	Why  error  // the cause; nil if What is sufficient
	Help string // one command or step that helps; may be empty
}

// Error implements error.
func (f *Failure) Error() string {
	if f.Why == nil {
		return f.What
	}
	return f.What + ": " + f.Why.Error()
}

func (f *Failure) Unwrap() error { return f.Why }

// Signal is the cause of a context that was canceled by a signal.
type Signal struct{ os.Signal }

// Error implements error.
func (s Signal) Error() string { return "received " + s.String() }

// codeOf is the exit code of an error.
func codeOf(err error) int {
	if err == nil {
		return CodeOK
	}
	if s, ok := errors.AsType[Signal](err); ok { // other failures are a consequence of the signal
		if n, ok := s.Signal.(syscall.Signal); ok {
			return 128 + int(n)
		}
		return CodeInterrupted
	}
	if f, ok := errors.AsType[*Failure](err); ok {
		return f.Code
	}
	if errors.Is(err, context.Canceled) {
		return CodeInterrupted
	}
	return CodeFailed
}

// explain writes an error for people.
func explain(w io.Writer, err error) {
	if _, ok := errors.AsType[Signal](err); ok {
		return
	}
	_, _ = fmt.Fprintf(w, "sma: %s\n", strings.TrimSpace(err.Error())) // nowhere else to report an error
	if f, ok := errors.AsType[*Failure](err); ok && f.Help != "" {
		_, _ = fmt.Fprintf(w, "     try: %s\n", f.Help)
	}
}

// usage turns an error into one about the command line.
func usage(err error, command string) error {
	if _, ok := errors.AsType[*Failure](err); ok {
		return err
	}
	return &Failure{Code: CodeUsage, What: err.Error(), Help: command + " --help"}
}
