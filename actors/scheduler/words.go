package scheduler

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/timetable"
)

// tellLate is the delay from which the words of a fire mention it.
const tellLate = 5 * time.Minute

// say chooses the text in the language of a task.
func say(f timetable.Fire, en, zh string) string {
	for _, r := range f.Title + f.Body + f.Say {
		if unicode.Is(unicode.Han, r) {
			return zh
		}
	}
	return en
}

// at formats a time with its zone, for people.
func at(t time.Time, zone *time.Location) string { return t.In(zone).Format("2006-01-02 15:04 MST") }

// missed says that a time passed without a run.
func missed(f timetable.Fire, zone *time.Location) string {
	when := at(f.Planned, zone)
	if f.Count > 1 {
		return say(f,
			fmt.Sprintf("The task “%s” was not done: I was not running at %s, nor at %s.", f.Title, when, timesBefore(f.Count-1)),
			fmt.Sprintf("任务“%s”没有执行：%s 以及之前的 %d 次，我都没有在运行。", f.Title, when, f.Count-1))
	}
	return say(f,
		fmt.Sprintf("The task “%s” was not done: I was not running at %s.", f.Title, when),
		fmt.Sprintf("任务“%s”没有执行：%s 时我没有在运行。", f.Title, when))
}

func timesBefore(n int) string {
	if n == 1 {
		return "the time before"
	}
	return fmt.Sprintf("the %d times before", n)
}

// lateness says that a fire is late, and which times before it were skipped.
func lateness(f timetable.Fire, zone *time.Location, late time.Duration) string {
	out := ""
	if late > tellLate {
		out = say(f, fmt.Sprintf("planned for %s", at(f.Planned, zone)), fmt.Sprintf("原定 %s", at(f.Planned, zone)))
	}
	if f.Count > 0 {
		out = strings.TrimPrefix(out+say(f, fmt.Sprintf("; times before that were left out: %d", f.Count), fmt.Sprintf("；之前错过的 %d 次不再补", f.Count)), "; ")
		out = strings.TrimPrefix(out, "；")
	}
	if out == "" {
		return ""
	}
	return say(f, "\n\n("+out+")", "\n\n（"+out+"）")
}

// waiting says that a run cannot continue without a person, and, in English and Chinese, who was
// asked in private; empty names mean no person was.
func waiting(f timetable.Fire, en, zh string) string {
	if en != "" {
		return say(f,
			fmt.Sprintf("The task “%s” waits for approval. I asked %s in private.", f.Title, en),
			fmt.Sprintf("任务“%s”在等待审批，我已私下询问%s。", f.Title, zh))
	}
	return say(f,
		fmt.Sprintf("The task “%s” waits for approval. The operator decides it with sma approvals (chat %s).", f.Title, timetable.FireChat(f.ID)),
		fmt.Sprintf("任务“%s”在等待审批，管理员可以用 sma approvals 处理（聊天 %s）。", f.Title, timetable.FireChat(f.ID)))
}

// failed says that a run had no result.
func failed(f timetable.Fire, result, reason string) string {
	if reason == "" {
		reason = result
	}
	return say(f,
		fmt.Sprintf("The task “%s” failed (%s). The operator finds more with sma chats show %s.", f.Title, reason, timetable.FireChat(f.ID)),
		fmt.Sprintf("任务“%s”没有完成（%s）。管理员可以用 sma chats show %s 查看。", f.Title, reason, timetable.FireChat(f.ID)))
}

// unfinished says why a run had no result, in the words that people would read in its chat.
func unfinished(f timetable.Fire, meta uimessage.Metadata) string {
	why := meta.Notice()
	if why == "" {
		return failed(f, meta.Result, meta.Reason)
	}
	return say(f,
		fmt.Sprintf("The task “%s” failed. %s The operator finds more with sma chats show %s.", f.Title, why, timetable.FireChat(f.ID)),
		fmt.Sprintf("任务“%s”没有完成。%s管理员可以用 sma chats show %s 查看。", f.Title, why, timetable.FireChat(f.ID)))
}

// answered is the answer of a run, with the sentence about what is missing from it, if there is one.
func answered(f timetable.Fire, text, notice string) string {
	switch {
	case strings.TrimSpace(text) == "":
		return cmp.Or(notice, say(f, fmt.Sprintf("The task “%s” is done.", f.Title), fmt.Sprintf("任务“%s”已完成。", f.Title)))
	case notice == "":
		return text
	}
	return text + "\n\n" + notice
}

// undecided says that no person decided in time.
func undecided(f timetable.Fire) string {
	return say(f,
		fmt.Sprintf("The task “%s” ended: nobody decided about its request in time.", f.Title),
		fmt.Sprintf("任务“%s”已结束：审批请求超时未处理。", f.Title))
}

// preface tells the model its situation; the instructions follow.
func preface(f timetable.Fire, zone *time.Location) string {
	when := at(f.Planned, zone)
	if f.ChatKey == "" {
		return say(f,
			fmt.Sprintf("This is the scheduled task “%s”, planned for %s. Nobody reads along and nobody can answer questions.", f.Title, when),
			fmt.Sprintf("这是定时任务“%s”，计划时间 %s。没有人在线，也没有人能回答问题。", f.Title, when))
	}
	return say(f,
		fmt.Sprintf("This is the scheduled task “%s”, planned for %s. Nobody can answer questions; your final answer is sent to the chat of the task as it is.", f.Title, when),
		fmt.Sprintf("这是定时任务“%s”，计划时间 %s。没有人能回答问题；你最后的回答会原样发到任务所属的聊天。", f.Title, when))
}
