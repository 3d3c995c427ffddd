package console

import (
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/chinese"
)

// ReadsChinese reports whether the terminal's language is Chinese.
func (a *Console) ReadsChinese() bool {
	return strings.HasPrefix(a.Variable("LC_ALL", "LC_MESSAGES", "LANG"), "zh")
}

// Text chooses the text for the terminal's language.
func (a *Console) Text(english, chinese string) string {
	if a.ReadsChinese() {
		return chinese
	}
	return english
}

// Words is an English text that arose elsewhere in the terminal's language, as far as package chinese has it.
func (a *Console) Words(english string) string {
	if !a.ReadsChinese() {
		return english
	}
	if a.chinese == nil {
		words := chinese.Read()
		a.chinese = &words
	}
	return a.chinese.Of(english)
}

// Column fills a text up to the width of a column. A Chinese character takes two places, and three bytes.
func Column(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-(len(text)+utf8.RuneCountInString(text))/2))
}

// HelpInChinese makes the help of commands appear in Chinese on a terminal that reads Chinese.
func (a *Console) HelpInChinese(root *cobra.Command) {
	help := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, words []string) {
		if !a.ReadsChinese() {
			help(c, words)
			return
		}
		c.Short, c.Long, c.Example = a.Words(c.Short), a.Words(c.Long), a.exampleText(c.Example)
		for _, below := range c.Commands() {
			below.Short = a.Words(below.Short)
		}
		for _, flags := range []*pflag.FlagSet{c.LocalFlags(), c.InheritedFlags()} {
			flags.VisitAll(func(f *pflag.Flag) { f.Usage = a.Words(f.Usage) })
		}
		var text strings.Builder
		out := c.OutOrStdout()
		c.SetOut(&text)
		help(c, words)
		c.SetOut(out)
		_, _ = io.WriteString(out, headings().Replace(text.String())) // nowhere else to report an error
	})
}

// exampleText translates what is said about examples, behind two blanks.
func (a *Console) exampleText(examples string) string {
	lines := strings.Split(examples, "\n")
	for i, line := range lines {
		if at := strings.LastIndex(line, "  "); at > 0 {
			lines[i] = line[:at+2] + a.Words(line[at+2:])
		}
	}
	return strings.Join(lines, "\n")
}

// headings are the words of the library that shows help.
func headings() *strings.Replacer {
	return strings.NewReplacer(
		"Usage:\n", "用法：\n", "\n\nExamples:\n", "\n\n示例：\n", "\n\nAvailable Commands:\n", "\n\n命令：\n",
		"\n\nFlags:\n", "\n\n选项：\n", "\n\nGlobal Flags:\n", "\n\n所有命令都有的选项：\n", "(default ", "(默认 ",
		"\n\nUse \"", "\n\n用 \"", " [command] --help\" for more information about a command.", " [command] --help\" 查看一个命令的说明。",
	)
}
