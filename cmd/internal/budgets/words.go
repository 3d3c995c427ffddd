package budgets

import (
	"fmt"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/window"
	"github.com/shipmyagent/shipmyagent/persistence/ledger"
)

// reportDays is how many days a report has, today included.
const reportDays = 7

// text is in English and Chinese.
type text [2]string

func (t *text) add(en, zh string) { t[0], t[1] = t[0]+en, t[1]+zh }

// Today is a line about what a chat has used today. Without a limit it is empty.
func (b *Budgets) Today(chat messages.ChatKey) (en, zh string) {
	if !ledgerLimits(*b.limits.Load()).Any() {
		return "", ""
	}
	used, err := b.ledger.Used(chat, "")
	if err != nil {
		b.log.Error("what a chat has used today cannot be read", "chat_key", string(chat), "error", err)
		return "", ""
	}
	words := shareWords(used[window.Day].Chat)
	return "\nused here today: " + words[0], "\n今天在这里的用量：" + words[1]
}

// Report says what a chat and a person have used in the windows that have limits and today, and what the chat has used
// on each of the last days. Of all chats it says something to the owner only.
func (b *Budgets) Report(chat messages.ChatKey, person string, owner bool) (en, zh string) {
	used, err := b.ledger.Used(chat, person)
	var rows []ledger.Row
	if err == nil {
		rows, err = b.ledger.Usage(time.Now().In(b.zone).AddDate(0, 0, 1-reportDays).Format(time.DateOnly))
	}
	if err != nil {
		b.log.Error("what a chat has used cannot be read", "chat_key", string(chat), "error", err)
		return "What was used cannot be read at the moment; the log says why.", "暂时无法读取用量，原因见日志。"
	}
	var out text
	for _, w := range []window.Window{window.Hour, window.Day, window.Month} {
		u, ok := used[w]
		if !ok {
			continue
		}
		en, zh := windowWords(w)
		here, theirs, all := shareWords(u.Chat), shareWords(u.Person), shareWords(u.Host)
		out.add(fmt.Sprintf("used here %s: %s\n", en, here[0]), fmt.Sprintf("%s在这里的用量：%s\n", zh, here[1]))
		if person != "" {
			out.add(fmt.Sprintf("by you in all chats %s: %s\n", en, theirs[0]), fmt.Sprintf("%s你在所有聊天里的用量：%s\n", zh, theirs[1]))
		}
		if owner {
			out.add(fmt.Sprintf("by everybody in all chats %s: %s\n", en, all[0]), fmt.Sprintf("%s所有人在所有聊天里的用量：%s\n", zh, all[1]))
		}
	}
	var here, people []ledger.Row
	for _, r := range rows {
		if r.Chat == chat {
			here = append(here, ledger.Row{Day: r.Day, Model: r.Model, Calls: r.Calls, Amount: r.Amount})
		}
		people = append(people, ledger.Row{Person: r.Person, Calls: r.Calls, Amount: r.Amount})
	}
	out.list("\nhere in the last 7 days:\n", "\n最近 7 天在这里：\n", here, func(r ledger.Row) text { return text{r.Day + " " + r.Model, r.Day + " " + r.Model} })
	if owner {
		out.list("\nby people in the last 7 days:\n", "\n最近 7 天每个人：\n", people, func(r ledger.Row) text {
			if r.Person == "" {
				return text{"without a person", "不属于任何人"}
			}
			return text{r.Person, r.Person}
		})
	}
	return strings.TrimSuffix(out[0], "\n"), strings.TrimSuffix(out[1], "\n")
}

// maxReported is how many lines a list in a chat has.
const maxReported = 20

func (t *text) list(en, zh string, rows []ledger.Row, name func(ledger.Row) text) {
	rows = ledger.Sum(rows)
	if len(rows) == 0 {
		return
	}
	t.add(en, zh)
	for i, r := range rows {
		if i == maxReported {
			t.add("… (sma usage has them all)\n", "……（sma usage 可以查看全部）\n")
			return
		}
		of, words := name(r), shareWords(ledger.Share{Amount: r.Amount})
		t.add(fmt.Sprintf("%s: %d requests, %s\n", of[0], r.Calls, words[0]), fmt.Sprintf("%s：%d 次请求，%s\n", of[1], r.Calls, words[1]))
	}
}

func windowWords(w window.Window) (en, zh string) {
	switch w {
	case window.Hour:
		return "this hour", "这一小时"
	case window.Month:
		return "this month", "本月"
	default:
		return "today", "今天"
	}
}

// shareWords is what was used, of the most that may be.
func shareWords(used ledger.Share) text {
	most := used.Most
	out := text{fmt.Sprintf("%d tokens", used.Tokens()), fmt.Sprintf("%d 个 token", used.Tokens())}
	if most.Tokens > 0 {
		out.add(fmt.Sprintf(" of %d", most.Tokens), fmt.Sprintf("（上限 %d）", most.Tokens))
	}
	if used.Seconds > 0 {
		out.add(fmt.Sprintf(", %d s of recordings", used.Seconds), fmt.Sprintf("，录音 %d 秒", used.Seconds))
	}
	if used.Characters > 0 {
		out.add(fmt.Sprintf(", %d characters spoken", used.Characters), fmt.Sprintf("，朗读 %d 个字符", used.Characters))
	}
	if used.NanoUSD > 0 || most.NanoUSD > 0 {
		out.add(fmt.Sprintf(", $%.4f", USD(used.NanoUSD)), fmt.Sprintf("，%.4f 美元", USD(used.NanoUSD)))
	}
	if most.NanoUSD > 0 {
		out.add(fmt.Sprintf(" of $%g", USD(most.NanoUSD)), fmt.Sprintf("（上限 %g）", USD(most.NanoUSD)))
	}
	return out
}
