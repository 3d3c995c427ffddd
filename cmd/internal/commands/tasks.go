package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/schedule"
	"github.com/shipmyagent/shipmyagent/persistence"
	"github.com/shipmyagent/shipmyagent/persistence/taskfile"
	"github.com/shipmyagent/shipmyagent/persistence/timetable"
)

const (
	// shownTimes is how many of a task's next times are shown.
	shownTimes = 3
	// buttonTasks is how many tasks of a list have buttons; commands work for all.
	buttonTasks = 10
	// taskMark is how many characters of a task's digest a button carries.
	taskMark = 8
)

// taskOrder is a command about a task of the chat.
type taskOrder struct {
	do   string // cancel, pause or resume; empty to list
	n    int
	mark string // beginning of the task's digest when the button was shown; empty without a button
}

// parseTaskOrder parses the arguments of /tasks. It returns false if it does not understand them.
func parseTaskOrder(args string) (o taskOrder, ok bool) {
	words := strings.Fields(strings.ToLower(messages.HalfWidth(args)))
	if len(words) == 0 || len(words) == 1 && slices.Contains([]string{"list", "列表"}, words[0]) {
		return o, true
	}
	if len(words) == 1 { // 取消2
		if i := strings.IndexAny(words[0], "#0123456789"); i > 0 {
			words = []string{words[0][:i], words[0][i:]}
		}
	}
	if len(words) == 2 && strings.Trim(words[0], "#0123456789") == "" {
		words[0], words[1] = words[1], words[0] // 2 cancel
	}
	if len(words) < 2 || len(words) > 3 {
		return o, false
	}
	switch words[0] {
	case "cancel", "delete", "remove", "取消", "删除":
		o.do = "cancel"
	case "pause", "暂停":
		o.do = "pause"
	case "resume", "恢复", "继续":
		o.do = "resume"
	default:
		return o, false
	}
	if o.n, ok = messages.NumberOf(words[1]); !ok {
		return o, false
	}
	if len(words) == 3 {
		o.mark = words[2]
	}
	return o, len(words) == 2 || len(o.mark) == taskMark
}

// MayManage reports whether somebody may decide in the chat of a task. Unless somebody else has stopped the task, it is
// also for who made it, and for whose private chat it is in.
func (c *Commands) MayManage(cmd decision.Command, t timetable.Task) bool {
	by := personOf(cmd)
	if stopped := t.Status == timetable.Paused || t.Status == timetable.Done; stopped && by != t.StoppedBy {
		return c.isOwner(cmd) || c.mayDecide(cmd)
	}
	return by != "" && by == t.MadeBy || c.MayChange(cmd) || c.mayDecide(cmd)
}

func (c *Commands) mayDecide(cmd decision.Command) bool {
	return c.MayDecide(approval.Claim{ChatKey: cmd.ChatKey, Platform: query.BotOf(cmd.ChatKey), Person: cmd.By.ID, Group: true})
}

func personOf(cmd decision.Command) string { return messages.PersonKey(cmd.By.Platform, cmd.By.ID) }

// tasksAnswer lists the tasks of a chat, or changes one as requested.
func (c *Commands) tasksAnswer(cmd decision.Command, say speak) (string, bool) {
	order, ok := parseTaskOrder(cmd.Args)
	if !ok {
		return say("I do not understand that command. /tasks"+cmd.At+" lists the tasks of this chat; /tasks"+cmd.At+" cancel 1, /tasks"+cmd.At+" pause 1 and /tasks"+cmd.At+" resume 1 change the one with number 1.",
			"我没有看懂这个命令。发送 /tasks"+cmd.At+" 查看这个聊天的任务；发送 /tasks"+cmd.At+" 取消 1、/tasks"+cmd.At+" 暂停 1 或 /tasks"+cmd.At+" 恢复 1 可更改 1 号任务。")
	}
	store := taskfile.New(c.State, c.Zone)
	all, numbers, err := store.Numbered(context.Background(), cmd.ChatKey)
	if err != nil {
		c.Logger.Warn("the tasks cannot be read", "error", err)
		return say("The tasks cannot be read now. The operator finds the reason in the log.", "现在无法读取任务。管理员可以查看日志中的原因。")
	}
	list := taskList{of: c, cmd: cmd, say: say, numbers: numbers}
	if order.do == "" {
		return list.answer(all)
	}
	i := slices.IndexFunc(all, func(t timetable.Task) bool { return numbers[t.ID] == order.n })
	if i < 0 {
		return say(fmt.Sprintf("There is no task %d in this chat. /tasks"+cmd.At+" lists them.", order.n), fmt.Sprintf("这个聊天里没有任务 %d。/tasks"+cmd.At+" 查看列表。", order.n))
	}
	return list.do(store, order, all[i])
}

// taskList answers one person about the tasks of a chat.
type taskList struct {
	of      *Commands
	cmd     decision.Command
	say     speak
	numbers map[string]int
}

// answer lists the tasks that have not ended.
func (l taskList) answer(all []timetable.Task) (string, bool) {
	var lines []string
	shown := 0
	for _, t := range all {
		line, ok := l.line(t)
		if t.Status == timetable.Done || !ok {
			continue
		}
		if shown++; shown <= buttonTasks {
			l.offer(t)
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return l.say("There are no tasks in this chat. Ask me for one, for example: remind me in 20 minutes.", "这个聊天里没有任务。可以直接让我安排，例如：20 分钟后提醒我。")
	}
	n := l.numbers[all[0].ID]
	for _, t := range all {
		if t.Status != timetable.Done {
			n = l.numbers[t.ID]
			break
		}
	}
	text := strings.Join(lines, "\n")
	return l.say(
		fmt.Sprintf("%s\n\nTo end, pause or resume one, send for example /tasks"+l.cmd.At+" cancel %d, /tasks"+l.cmd.At+" pause %d or /tasks"+l.cmd.At+" resume %d. To change one, tell me in your own words.", text, n, n, n),
		fmt.Sprintf("%s\n\n要取消、暂停或恢复，可以发送例如 /tasks"+l.cmd.At+" 取消 %d、/tasks"+l.cmd.At+" 暂停 %d 或 /tasks"+l.cmd.At+" 恢复 %d。要修改，直接告诉我即可。", text, n, n, n))
}

// line describes a task with its next times. It returns false for a one-time task whose time has passed.
func (l taskList) line(t timetable.Task) (string, bool) {
	times, err := t.Schedule(l.of.Zone)
	if err != nil { // Unreachable: the store has checked it
		return "", false
	}
	next := times.Upcoming(time.Now(), shownTimes)
	_, chinese := l.words("", "x")
	var when []string
	for _, at := range next {
		when = append(when, dayAndTime(at, chinese))
	}
	between, colon := ", ", ": "
	if chinese {
		between, colon = "、", "："
	}
	text := strings.Join(when, between)
	switch {
	case t.Status == timetable.Paused:
		text, _ = l.words("paused", "已暂停")
	case len(next) == 0 && !times.Repeats():
		return "", false
	case len(next) == 0:
		text, _ = l.words("only by hand", "仅手动执行")
	}
	return fmt.Sprintf("%d. %s%s%s", l.numbers[t.ID], t.Title, colon, text), true
}

// words chooses the text in the language of the answer, and reports whether that is Chinese.
func (l taskList) words(en, zh string) (string, bool) {
	text, _ := l.say(en, zh)
	return text, text == zh
}

// dayAndTime is a time with its weekday and zone.
func dayAndTime(at time.Time, chinese bool) string {
	if chinese {
		return "周" + string([]rune("日一二三四五六")[at.Weekday()]) + at.Format(" 2006-01-02 15:04 MST")
	}
	return at.Format("Mon 2006-01-02 15:04 MST")
}

// offer adds the buttons of a task to the answer. They apply to the current version of the task only.
func (l taskList) offer(t timetable.Task) {
	if l.cmd.Offer == nil {
		return
	}
	n := l.numbers[t.ID]
	button := func(do, en, zh string) messages.Ask {
		label, chinese := l.words(en, zh)
		return messages.Ask{N: n, Order: fmt.Sprintf("tasks %s %d %s", do, n, t.Digest()[:taskMark]), Label: fmt.Sprintf("%s %d", label, n), Chinese: chinese}
	}
	pause := button("pause", "⏸ Pause", "⏸ 暂停")
	if t.Status == timetable.Paused {
		pause = button("resume", "▶️ Resume", "▶️ 恢复")
	}
	l.cmd.Offer(pause, button("cancel", "🗑 Cancel", "🗑 取消"))
}

// do changes a task as requested, and describes the result.
func (l taskList) do(store *taskfile.Store, o taskOrder, t timetable.Task) (string, bool) {
	want := map[string]timetable.Status{"cancel": timetable.Done, "pause": timetable.Paused, "resume": timetable.Active}[o.do]
	line, _ := l.line(t)
	switch {
	case !l.of.MayManage(l.cmd, t):
		return l.say(fmt.Sprintf("Task %d (“%s”) was not changed: only people who may decide in this chat can do that, and the person who made it, unless somebody else has stopped it.", o.n, t.Title),
			fmt.Sprintf("任务 %d（“%s”）未做更改：只有有权在这个聊天里做决定的人才能这样做；创建它的人也可以，除非是别人停止了它。", o.n, t.Title))
	case t.Status == timetable.Done && (want != timetable.Active || o.mark != "" || !l.comes(t)): // a button does not reactivate a task that has ended
		return l.say(fmt.Sprintf("Task %d (“%s”) has ended already; nothing was changed.", o.n, t.Title), fmt.Sprintf("任务 %d（“%s”）已经结束，未做更改。", o.n, t.Title))
	case t.Status == want && (want == timetable.Active || t.StoppedBy == personOf(l.cmd)):
		return l.say("Nothing had to be changed. The task is so already:\n"+line, "无需更改，任务当前已经是这样：\n"+line)
	case want == timetable.Active && !l.comes(t):
		return l.say(fmt.Sprintf("Task %d (“%s”) cannot go on: its time has passed. Tell me a new time for it.", o.n, t.Title),
			fmt.Sprintf("任务 %d（“%s”）无法恢复：时间已过。请告诉我新的时间。", o.n, t.Title))
	case o.mark != "" && !strings.HasPrefix(t.Digest(), o.mark):
		l.offer(t)
		return l.say("This task was changed after the button was shown, so nothing was done. The task is now:\n"+line, "按钮显示之后任务有过更改，因此未执行。任务现在是：\n"+line)
	}
	err := store.SetTaskStatus(context.Background(), t.ID, want, personOf(l.cmd))
	if errors.Is(err, persistence.ErrTask) {
		return l.say(fmt.Sprintf("There is no task %d in this chat any more.", o.n), fmt.Sprintf("任务 %d 已经不在这个聊天里了。", o.n))
	}
	if err != nil {
		l.of.Logger.Warn("a task could not be changed", "task", t.ID, "error", err)
		return l.say("The task could not be changed; it is as it was. The operator finds the reason in the log.", "任务没有更改成功，保持原样。管理员可以查看日志中的原因。")
	}
	l.of.TasksChanged()
	l.of.Logger.Info("a task was changed in its chat", "task", t.ID, "status", string(want), "by", l.cmd.By.ID)
	t.Status = want
	line, _ = l.line(t)
	if want == timetable.Done {
		en, zh := fmt.Sprintf("Cancelled: task %d (“%s”).", o.n, t.Title), fmt.Sprintf("已取消任务 %d（“%s”）。", o.n, t.Title)
		if l.comes(t) {
			en += fmt.Sprintf(" /tasks"+l.cmd.At+" resume %d takes it up again.", o.n)
			zh += fmt.Sprintf("发送 /tasks"+l.cmd.At+" 恢复 %d 可以重新启用。", o.n)
		}
		return l.say(en, zh)
	}
	l.offer(t)
	return l.say("Done. The task is now:\n"+line, "已完成。任务现在是：\n"+line)
}

// comes reports whether a task has future times when active, or is started by hand only.
func (l taskList) comes(t timetable.Task) bool {
	times, err := t.Schedule(l.of.Zone)
	return err == nil && (t.Cron == schedule.Manual || len(times.Upcoming(time.Now(), 1)) > 0)
}
