package console

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// Command declares a command with a result of type T: how to get the result and how to show it. The result is printed
// as text, or with --json as one JSON document.
type Command[T any] struct {
	Run  func(ctx context.Context, args []string) (T, error)
	Text func(T) string
	// List names the member of the JSON document that holds the result. If both List and JSON are empty, the result
	// is the document.
	List string
	JSON func(T) any
	// Verdict is the error that the command returns after the result was shown.
	Verdict func(T) error
}

// On makes cmd run the command.
func (c Command[T]) On(a *Console, cmd *cobra.Command) *cobra.Command {
	asJSON := &documentFlag{}
	var none T
	asJSON.document = c.document(none)
	cmd.Flags().VarPF(asJSON, "json", "", "write one JSON document").NoOptDefVal = "true"
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		answer, err := c.Run(cmd.Context(), args)
		if err != nil {
			return err
		}
		if asJSON.on {
			err = a.PrintJSON(c.document(answer))
		} else {
			err = a.Print(c.Text(answer))
		}
		if err == nil && c.Verdict != nil {
			err = c.Verdict(answer)
		}
		return err
	}
	return cmd
}

// documentFlag is the flag --json of a command. It knows what kind of document the command writes, which is checked
// against the reference.
type documentFlag struct {
	on       bool
	document any
}

// Document is an empty document.
func (f *documentFlag) Document() any { return f.document }

func (f *documentFlag) String() string              { return strconv.FormatBool(f.on) }
func (f *documentFlag) Set(text string) (err error) { f.on, err = strconv.ParseBool(text); return err }
func (*documentFlag) Type() string                  { return "bool" }

func (c Command[T]) document(answer T) any {
	switch {
	case c.JSON != nil:
		return c.JSON(answer)
	case c.List != "":
		return map[string]T{c.List: answer}
	default:
		return answer
	}
}

// ChosenNumbers parses which numbered things of a chat a command is about: CHAT N…, or CHAT and --all. mark is an
// optional prefix of numbers, thing is what is numbered, and list is the command that lists them.
func ChosenNumbers(args []string, all bool, mark, thing, list string) (numbers []int, err error) {
	help := list + " " + args[0]
	if all == (len(args) > 1) {
		return nil, &Failure{Code: CodeUsage, What: "say which ones, or --all", Help: help}
	}
	for _, arg := range args[1:] {
		n, err := strconv.Atoi(strings.TrimPrefix(arg, mark))
		if err != nil || n < 1 {
			return nil, &Failure{Code: CodeUsage, What: arg + " is not the number of a " + thing, Help: help}
		}
		numbers = append(numbers, n)
	}
	return numbers, nil
}
