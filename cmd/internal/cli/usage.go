package cli

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/cmd/internal/budgets"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/ledger"
)

// usageLine is what a chat used of a model on one day, as JSON. Members are only ever added.
type usageLine struct {
	Day          string           `json:"day"`
	ChatKey      messages.ChatKey `json:"chatKey"`
	Model        string           `json:"model"`
	Calls        int              `json:"calls"`
	InputTokens  int64            `json:"inputTokens"`
	CachedTokens int64            `json:"cachedTokens"` // of the input, read from the provider's cache
	OutputTokens int64            `json:"outputTokens"`
	USD          float64          `json:"usd"` // 0 if the prices are unknown
}

// usageDays is how many days are shown, today included.
const usageDays = 7

func (a *app) usageCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "usage", Short: "Show what the chats have used of the models, by day", Args: cobra.NoArgs,
		Long: "Shows the calls of models and their tokens and prices, by day, chat and model: of runs, summaries and memory. Calls that\n" +
			"are in progress, or that a kill cut off, count with the most that they may use, if there are limits (budget).",
		Example: "  sma usage\n  sma usage --since 2026-01-01 --json",
	}
	since := cmd.Flags().String("since", "", "the first `day`, as in 2026-01-31 (default: six days ago)")
	return console.Command[[]usageLine]{
		Run: func(context.Context, []string) ([]usageLine, error) {
			day := *since
			if day == "" {
				day = firstDay()
			}
			if _, err := time.Parse(time.DateOnly, day); err != nil {
				return nil, &console.Failure{Code: console.CodeUsage, What: "--since wants a day, as in 2026-01-31", Help: cmd.CommandPath() + " --help"}
			}
			_, state, err := a.Folders(nil)
			if err != nil {
				return nil, err
			}
			return usage(state, day)
		},
		List: "usage", Text: a.usageText,
	}.On(a.Console, cmd)
}

// firstDay is the first day that is shown if nobody asks for another one.
func firstDay() string { return time.Now().AddDate(0, 0, 1-usageDays).Format(time.DateOnly) }

func usage(state, since string) ([]usageLine, error) {
	rows, err := ledger.Usage(budgets.Dir(state), since)
	if err != nil {
		return nil, &console.Failure{Code: console.CodeFailed, What: "the usage cannot be read", Why: err}
	}
	lines := make([]usageLine, len(rows))
	for i, r := range rows {
		lines[i] = usageLine{r.Day, r.Chat, r.Model, r.Calls, r.Input, r.Cached, r.Output, budgets.USD(r.NanoUSD)}
	}
	return lines, nil
}

func (a *app) usageText(lines []usageLine) string {
	if len(lines) == 0 {
		return a.Text("nothing was used\n", "没有用量\n")
	}
	var out strings.Builder
	table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	row := func(day, chat, model string, l usageLine) {
		usd := "-"
		if l.USD > 0 {
			usd = fmt.Sprintf("%.4f", l.USD)
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%d\t%d\t%d\t%s\n", day, chat, model, l.Calls, l.InputTokens, l.CachedTokens, l.OutputTokens, usd)
	}
	_, _ = fmt.Fprintln(table, a.Text("DAY\tCHAT\tMODEL\tCALLS\tINPUT\tCACHED\tOUTPUT\tUSD", "日期\t聊天\t模型\t调用\t输入\t缓存\t输出\t美元"))
	var sum usageLine
	for _, l := range lines {
		row(l.Day, string(l.ChatKey), l.Model, l)
		sum.Calls, sum.USD = sum.Calls+l.Calls, sum.USD+l.USD
		sum.InputTokens, sum.CachedTokens, sum.OutputTokens = sum.InputTokens+l.InputTokens, sum.CachedTokens+l.CachedTokens, sum.OutputTokens+l.OutputTokens
	}
	row(a.Text("total", "合计"), "", "", sum)
	_ = table.Flush() // a builder takes everything
	return out.String()
}
