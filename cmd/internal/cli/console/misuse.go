package console

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/shipmyagent/shipmyagent/config"
)

// Misuse turns what cobra says about a command line into words for people, with what was probably meant. Other errors
// are returned unchanged.
func (a *Console) Misuse(c *cobra.Command, err error) error {
	if _, ok := errors.AsType[*Failure](err); ok {
		return err
	}
	what := a.flagMisuse(c, err)
	switch words, lacking := c.Flags().Args(), lacking(c); {
	case what != "":
	case c.HasSubCommands() && len(words) > 0:
		return a.Unknown(c, words[0])
	case len(lacking) > 0:
		what = c.CommandPath() + a.Text(" needs ", " 还需要 ") + strings.Join(lacking, " ")
	case len(words) > 0:
		what = fmt.Sprintf(a.Text("%s takes no further word: %q", "%s 后面多了 %q"), c.CommandPath(), words[len(words)-1])
	default:
		what = err.Error()
	}
	return &Failure{Code: CodeUsage, What: what, Help: c.CommandPath() + " --help"}
}

// Unknown is the error for a word that is no command of c.
func (a *Console) Unknown(c *cobra.Command, word string) error {
	what := fmt.Sprintf(a.Text("unknown command %q", "没有命令 %q"), word) + a.meant("", subcommands(c), word)
	return &Failure{Code: CodeUsage, What: what, Help: c.CommandPath() + " --help"}
}

// flagMisuse is what is wrong with a flag, or empty.
func (a *Console) flagMisuse(c *cobra.Command, err error) string {
	if e, ok := errors.AsType[*pflag.NotExistError](err); ok {
		if e.GetSpecifiedShortnames() != "" {
			return fmt.Sprintf(a.Text("there is no flag -%s", "没有选项 -%s"), e.GetSpecifiedName())
		}
		var names []string
		for _, set := range []*pflag.FlagSet{c.LocalFlags(), c.InheritedFlags()} {
			set.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		}
		return a.Text("there is no flag --", "没有选项 --") + e.GetSpecifiedName() + a.meant("--", names, e.GetSpecifiedName())
	}
	if e, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return fmt.Sprintf(a.Text("--%s needs a value", "选项 --%s 需要一个值"), e.GetFlag().Name)
	}
	if e, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		kind := e.GetFlag().Value.Type()
		return fmt.Sprintf(a.Text("--%s wants %s, not %q", "选项 --%[1]s 的值 %[3]q 无效（%[2]s）"), e.GetFlag().Name, a.kind(kind), e.GetValue())
	}
	return ""
}

// kind names a type of flags.
func (a *Console) kind(kind string) string {
	switch kind {
	case "int":
		return a.Text("a number", "应为整数")
	case "bool":
		return a.Text("true or false", "应为 true 或 false")
	case "duration":
		return a.Text("a duration such as 90s", "应为时长，如 90s")
	}
	return kind
}

// meant proposes the nearest of some names, written after a mark.
func (a *Console) meant(mark string, names []string, word string) string {
	near := config.Nearest(word, names)
	if near == "" {
		return ""
	}
	return fmt.Sprintf(a.Text("; did you mean %s?", "；是否想用 %s？"), mark+near)
}

func subcommands(c *cobra.Command) (names []string) {
	for _, child := range c.Commands() {
		if child.IsAvailableCommand() {
			names = append(names, child.Name())
		}
	}
	return names
}

// lacking are the words of the usage line that were not given. Words in brackets may be left out.
func lacking(c *cobra.Command) []string {
	words := strings.Fields(c.Use)[1:]
	if end := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "[") || strings.HasPrefix(w, "--") }); end >= 0 {
		words = words[:end]
	}
	return words[min(len(words), len(c.Flags().Args())):]
}
