package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/shipmyagent/shipmyagent/cmd/internal/agentdir"
	"github.com/shipmyagent/shipmyagent/cmd/internal/budgets"
	"github.com/shipmyagent/shipmyagent/cmd/internal/checkup"
	"github.com/shipmyagent/shipmyagent/cmd/internal/cli/console"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/ledger"
)

// usageLine is what was used on one day, in one chat and so on, as JSON. Members are only ever added; those that lines
// are not grouped by are left out.
type usageLine struct {
	Day          string           `json:"day,omitempty"`
	ChatKey      messages.ChatKey `json:"chatKey,omitempty"`
	Person       string           `json:"person,omitempty"` // who is charged; left out for work without a person
	Model        string           `json:"model,omitempty"`
	Work         string           `json:"work,omitempty"`
	Calls        int              `json:"calls"`
	InputTokens  int64            `json:"inputTokens"`
	CachedTokens int64            `json:"cachedTokens"` // of the input, read from the provider's cache
	OutputTokens int64            `json:"outputTokens"`
	Seconds      int64            `json:"seconds,omitempty"`    // of recordings
	Characters   int64            `json:"characters,omitempty"` // that were spoken
	USD          float64          `json:"usd"`                  // 0 if the prices are unknown
}

// usageDays is how many days are shown, today included.
const usageDays = 7

func (a *app) usageCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use: "usage", Short: "Show what the chats have used of the models, by day", Args: cobra.NoArgs,
		Long: "Shows the calls of models and their tokens and prices: of runs, summaries, memory and speech. Calls that are in progress,\n" +
			"or that a kill cut off, count with the most that they may use, if there are limits (budget). --by says what has a line of\n" +
			"its own: day, chat, person (whose message began the run), model, work (run, compaction, memory, …).",
		Example: "  sma usage\n  sma usage --by person --since 2026-01-01 --json",
	}
	grouped := cmd.Flags().String("by", strings.Join([]string{byDay, byChat, byModel}, ","), "what has a line of its own: day, chat, person, model, `work`")
	by := func() []string { return strings.Split(*grouped, ",") }
	since := cmd.Flags().String("since", "", "the first `day`, as in 2026-01-31 (default: six days ago)")
	return console.Command[[]usageLine]{
		Run: func(context.Context, []string) ([]usageLine, error) {
			dir, state, err := a.Folders(nil)
			if err != nil {
				return nil, err
			}
			day := cmp.Or(*since, a.firstDay(dir))
			if _, err := time.Parse(time.DateOnly, day); err != nil {
				return nil, &console.Failure{Code: console.CodeUsage, What: "--since wants a day, as in 2026-01-31", Help: cmd.CommandPath() + " --help"}
			}
			for _, word := range by() {
				if !slices.Contains(byAll(), word) {
					return nil, &console.Failure{Code: console.CodeUsage, What: "--by wants some of " + strings.Join(byAll(), ","), Help: cmd.CommandPath() + " --help"}
				}
			}
			return usage(state, day, by())
		},
		List: "usage", Text: func(lines []usageLine) string { return a.usageText(lines, by()) },
	}.On(a.Console, cmd)
}

// firstDay is the first day that is shown by default. It is a day in the project's time zone, or in that of the machine
// if the settings cannot be used.
func (a *app) firstDay(dir string) string {
	zone := time.Local
	if loaded, err := a.Load(dir, false); err == nil {
		zone = agentdir.Zone(loaded.Settings.Timezone)
	}
	return time.Now().In(zone).AddDate(0, 0, 1-usageDays).Format(time.DateOnly)
}

// What lines of usage can be grouped by.
const (
	byDay    = "day"
	byChat   = "chat"
	byPerson = "person"
	byModel  = "model"
	byWork   = "work"
)

func byAll() []string { return []string{byDay, byChat, byPerson, byModel, byWork} }

// usage is what was used from a day on, with a line for each of what it is grouped by.
func usage(state, since string, by []string) ([]usageLine, error) {
	rows, err := ledger.Usage(budgets.Dir(state), since)
	if err != nil {
		return nil, &console.Failure{Code: console.CodeFailed, What: "the usage cannot be read", Why: err, Help: "sma doctor"}
	}
	for i, r := range rows {
		of := ledger.Row{Calls: r.Calls, Amount: r.Amount}
		for _, word := range by {
			switch word {
			case byDay:
				of.Day = r.Day
			case byChat:
				of.Chat = r.Chat
			case byPerson:
				of.Person = r.Person
			case byModel:
				of.Model = r.Model
			case byWork:
				of.Work = r.Work
			}
		}
		rows[i] = of
	}
	rows = ledger.Sum(rows)
	lines := make([]usageLine, len(rows))
	for i, r := range rows {
		lines[i] = usageLine{r.Day, r.Chat, r.Person, r.Model, r.Work, r.Calls, r.Input, r.Cached, r.Output, r.Seconds, r.Characters, budgets.USD(r.NanoUSD)}
	}
	return lines, nil
}

func (a *app) usageText(lines []usageLine, by []string) string {
	if len(lines) == 0 {
		return a.Text("nothing was used\n", "没有用量\n")
	}
	var sum usageLine
	spoken := false
	for _, l := range lines {
		sum.Calls, sum.USD = sum.Calls+l.Calls, sum.USD+l.USD
		sum.InputTokens, sum.CachedTokens, sum.OutputTokens = sum.InputTokens+l.InputTokens, sum.CachedTokens+l.CachedTokens, sum.OutputTokens+l.OutputTokens
		sum.Seconds, sum.Characters = sum.Seconds+l.Seconds, sum.Characters+l.Characters
		spoken = spoken || l.Seconds+l.Characters > 0
	}
	var out strings.Builder
	table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	row := func(of, numbers []string) {
		_, _ = fmt.Fprintln(table, strings.Join(append(of, numbers...), "\t")) // a builder takes everything
	}
	numbers := func(l usageLine) []string {
		cells := []string{strconv.Itoa(l.Calls), fmt.Sprint(l.InputTokens), fmt.Sprint(l.CachedTokens), fmt.Sprint(l.OutputTokens)}
		if spoken {
			cells = append(cells, fmt.Sprint(l.Seconds), fmt.Sprint(l.Characters))
		}
		if l.USD > 0 {
			return append(cells, fmt.Sprintf("%.4f", l.USD))
		}
		return append(cells, "-")
	}
	heads := a.Text("CALLS\tINPUT\tCACHED\tOUTPUT\tUSD", "调用\t输入\t缓存\t输出\t美元")
	if spoken {
		heads = a.Text("CALLS\tINPUT\tCACHED\tOUTPUT\tSECONDS\tCHARACTERS\tUSD", "调用\t输入\t缓存\t输出\t秒\t字符\t美元")
	}
	row(a.groups(by, usageLine{}, true), []string{heads})
	for _, l := range lines {
		row(a.groups(by, l, false), numbers(l))
	}
	total := make([]string, max(1, len(a.groups(by, sum, false))))
	total[0] = a.Text("total", "合计")
	row(total, numbers(sum))
	_ = table.Flush()
	return out.String()
}

// groups are the cells of a line that say what it is of, or their heads.
func (a *app) groups(by []string, l usageLine, heads bool) (cells []string) {
	for _, c := range []struct{ word, head, cell string }{
		{byDay, a.Text("DAY", "日期"), l.Day},
		{byChat, a.Text("CHAT", "聊天"), cmp.Or(string(l.ChatKey), "-")},
		{byPerson, a.Text("PERSON", "人"), cmp.Or(l.Person, "-")},
		{byModel, a.Text("MODEL", "模型"), l.Model},
		{byWork, a.Text("WORK", "用途"), l.Work},
	} {
		switch {
		case !slices.Contains(by, c.word):
		case heads:
			cells = append(cells, c.head)
		default:
			cells = append(cells, checkup.OneLine(c.cell, 100))
		}
	}
	return cells
}
