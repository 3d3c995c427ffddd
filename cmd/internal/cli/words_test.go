package cli

import (
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/chinese"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
)

// helpTexts are what the help of a command and of those below it says.
func helpTexts(c *cobra.Command) (texts []string) {
	c.InitDefaultHelpFlag()
	texts = append(texts, c.Short, c.Long)
	for line := range strings.Lines(c.Example) {
		if _, about, ok := strings.Cut(strings.TrimSpace(line), "  "); ok {
			texts = append(texts, about)
		}
	}
	c.Flags().VisitAll(func(f *pflag.Flag) { texts = append(texts, f.Usage) })
	c.PersistentFlags().VisitAll(func(f *pflag.Flag) { texts = append(texts, f.Usage) })
	for _, below := range c.Commands() {
		if !below.Hidden {
			texts = append(texts, helpTexts(below)...)
		}
	}
	return texts
}

// The help of every command is in both languages, and shown in that of the terminal.
func TestHelpIsInChinese(t *testing.T) {
	root := (&app{Console: &console.Console{}}).root()
	words := chinese.Read()
	for _, text := range helpTexts(root) {
		if text != "" && !isHan(words.Of(text)) {
			t.Errorf("chinese/words.json lacks %q", text)
		}
	}
	for lang, want := range map[string]string{
		"zh_CN.UTF-8": "检查和显示设置\n\n用法：\n", "": "Check and show the settings\n\nUsage:\n",
	} {
		var out strings.Builder
		Run(t.Context(), Options{
			Args: []string{"config"}, Stdout: &out, Stderr: &out,
			Env: func(name string) (string, bool) { return lang, name == "LANG" },
		})
		if !strings.HasPrefix(out.String(), want) {
			t.Errorf("%q: the help is\n%s", lang, out.String())
		}
		if english := strings.Count(out.String(), "Flags:") + strings.Count(out.String(), "Use \""); (lang == "") != (english > 0) {
			t.Errorf("%q: the help is\n%s", lang, out.String())
		}
	}
}

func isHan(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Han, r) })
}

// What failed and what helps is in the language of the terminal, whoever says it.
func TestFailuresAreInChinese(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"status -C /nowhere", "sma: 没有文件夹 /nowhere\n     建议：sma init /nowhere\n"},
		{"status -C /dev/null", "sma: /dev/null 不是文件夹\n     建议：sma run /dev\n"},
		{"nonsense", "sma: 没有命令 \"nonsense\""},
	} {
		var out strings.Builder
		Run(t.Context(), Options{
			Args: strings.Fields(tt.args), Stdout: &out, Stderr: &out,
			Env: func(name string) (string, bool) { return "zh_CN.UTF-8", name == "LANG" },
		})
		if !strings.HasPrefix(out.String(), tt.want) {
			t.Errorf("%s says\n%s", tt.args, out.String())
		}
	}
}
