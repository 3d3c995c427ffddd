// Package commands answers slash commands, in English and Chinese. One table of commands serves the help, the menus
// of platforms and the answers.
package commands

import (
	"cmp"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/web"
	"github.com/shipmyagent/shipmyagent/cmd/internal/agentdir"
	"github.com/shipmyagent/shipmyagent/cmd/internal/query"
	"github.com/shipmyagent/shipmyagent/config"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// Options configure [Commands].
type Options struct {
	Contexts bool // whether conversations can be archived and loaded
	Project  string
	// Models are the main model and those that people may choose instead.
	Models func() []decision.ModelChoice
	State  string // the state folder, for tasks
	// TasksChanged is called after a command changed a task.
	TasksChanged func()
	Zone         *time.Location
	Logger       *slog.Logger
	// Chinese reports whether to use Chinese in chats whose people chose no language.
	Chinese     func() bool
	Preferences *agentdir.Preferences
	// Role is a person's role with a bot.
	Role func(bot, person string) string
	// MayDecide reports whether a person may decide about requests.
	MayDecide func(approval.Claim) bool
	// Health returns the status of the models.
	Health func() []ModelStatus
	// Spent is a line about what a chat has used today, in English and Chinese; it may be empty.
	Spent func(messages.ChatKey) (en, zh string)
	// Usage says what a chat and a person have used, and to the owner what everybody has.
	Usage func(chat messages.ChatKey, person string, owner bool) (en, zh string)
	// More allows more at the spending limit that waits for a code, or lists the limits that wait, for the owner.
	More func(code string, from messages.ChatKey, private bool) (en, zh string)
}

// Commands answers commands. It is safe for concurrent use.
type Commands struct{ Options }

// New makes a [Commands].
func New(o Options) *Commands { return &Commands{o} }

type order struct {
	name    string
	usage   string // with its arguments, for the help; defaults to name
	zhUsage string // the same in Chinese; defaults to usage
	// en and zh describe the command in one line.
	en, zh   string
	contexts bool   // only while contexts are on
	groups   bool   // only where there are groups
	platform string // only on this platform; all if empty
	hidden   bool   // not listed
	api      bool   // programs may use it in their instructions
}

// orders are the commands that the host knows.
func orders(contexts bool) []order {
	all := []order{
		{name: "start", en: "says hello", zh: "打招呼", hidden: true},
		{name: "help", en: "lists these commands", zh: "列出所有命令", api: true},
		{name: "status", en: "shows whether I am working, and what waits", zh: "查看我是否在处理、有什么在等待", api: true},
		{name: "stop", usage: "stop, /stop all", en: "stops what I am doing; with all, also drops the messages that wait", zh: "停止当前的处理；加 all 同时丢弃等待的消息", api: true},
		{name: "compact", en: "sums up the older part of this chat to save space", zh: "把较早的对话压缩成摘要", api: true},
		{name: "new", usage: "new TITLE", zhUsage: "new 标题", en: "archives this conversation and starts a new one", zh: "归档当前对话并重新开始", contexts: true, api: true},
		{name: "contexts", en: "lists the archived conversations", zh: "查看已归档的对话", contexts: true, api: true},
		{name: "load", usage: "load N", en: "brings back an archived conversation, by its number in /contexts", zh: "恢复一个已归档的对话，编号见 /contexts", contexts: true, api: true},
		{name: "forget", en: "deletes everything that I keep about this chat; asks you first", zh: "删除我保存的关于这个聊天的全部内容（会先确认）"},
		{name: "tasks", usage: "tasks, /tasks cancel N", zhUsage: "tasks, /tasks 取消 N", en: "lists the tasks of this chat and their next times, or cancels one; pause N and resume N work too", zh: "查看这个聊天的定时任务和下次时间，或取消一个；也可以暂停 N、恢复 N", api: true},
		{name: "output", usage: "output, /output N", en: "sends the whole output of the last tool that I used, or of the Nth from the last", zh: "发送最近一次（或倒数第 N 次）使用工具的完整输出", api: true},
		{name: "approvals", en: "shows the requests that wait for a decision", zh: "查看等待审批的请求"},
		{name: "approve", usage: "approve N", en: "approves the request with this number", zh: "批准这个编号的请求"},
		{name: "deny", usage: "deny N REASON", zhUsage: "deny N 理由", en: "denies the request with this number; a reason is optional", zh: "拒绝这个编号的请求，可以附上理由"},
		{name: "model", usage: "model, /model NAME EFFORT", zhUsage: "model, /model 名称 强度", en: "shows which model answers here, or chooses another and how much it thinks", zh: "查看或选择这里使用的模型和思考强度", api: true},
		{name: "usage", en: "shows what this chat and you have used of my models", zh: "查看这个聊天和你对模型的用量", api: true},
		{name: "more", usage: "more CODE", zhUsage: "more 代码", en: "allows more at a spending limit, or lists the limits that wait for that (owner only)", zh: "在用量上限处允许更多用量，或查看等待决定的上限（仅主人）", hidden: true},
		{name: "why", en: "explains why the last message got no answer of its own", zh: "解释上一条消息为什么没有单独回复", api: true},
		{name: "language", usage: "language en|zh|auto", en: "chooses the language of my own words", zh: "选择提示语的语言", api: true},
		{name: "activation", usage: "activation mention|reply|always|commands", en: "chooses what I listen to in this group (owner only)", zh: "设置我在群里响应什么（仅主人）", groups: true, platform: "telegram"},
		{name: "allow", en: "lets this group use me (owner only)", zh: "允许这个群使用我（仅主人）", groups: true},
	}
	var out []order
	for _, o := range all {
		if contexts || !o.contexts {
			out = append(out, o)
		}
	}
	return out
}

func (c *Commands) orders() []order { return orders(c.Contexts) }

// Names are the names of the commands.
func Names(contexts bool) []string {
	var out []string
	for _, o := range orders(contexts) {
		out = append(out, o.name)
	}
	return out
}

// Menu is the list of commands for the menu of a bot.
func (c *Commands) Menu() []platform.MenuEntry {
	var out []platform.MenuEntry
	for _, o := range c.orders() {
		if !o.hidden {
			out = append(out, platform.MenuEntry{Command: o.name, English: o.en, Chinese: o.zh})
		}
	}
	return out
}

// Web is the list of commands of platforms without groups.
func (c *Commands) Web() []web.Command {
	var out []web.Command
	for _, o := range c.orders() {
		if !o.groups {
			out = append(out, web.Command{Name: o.name, English: o.en, Chinese: o.zh, API: o.api})
		}
	}
	return out
}

// here are the commands that may be listed in a chat.
func here(list []order, cmd decision.Command) []order {
	return slices.DeleteFunc(slices.Clone(list), func(o order) bool {
		return o.hidden || o.groups && alone(cmd) || o.platform != "" && o.platform != query.BotOf(cmd.ChatKey)
	})
}

// unknownCommand answers an unknown command by suggesting the nearest one.
func (c *Commands) unknownCommand(cmd decision.Command, say speak) (string, bool) {
	var names []string
	for _, o := range here(c.orders(), cmd) {
		names = append(names, o.name)
	}
	if near := config.Nearest(cmd.Name, names); near != "" {
		return say("I do not know the command /"+cmd.Name+". Did you mean /"+near+cmd.At+"?", "我不认识命令 /"+cmd.Name+"。你是想用 /"+near+cmd.At+" 吗？")
	}
	return say("I do not know the command /"+cmd.Name+". /help"+cmd.At+" lists the commands that I know.", "我不认识命令 /"+cmd.Name+"。发送 /help"+cmd.At+" 查看我认识的命令。")
}

// help is the text that lists commands, after a line that says how to use them.
func help(list []order, how string, chinese bool) string {
	lines := []string{how, ""}
	for _, o := range list {
		usage, does := o.name, o.en
		if o.usage != "" {
			usage = o.usage
		}
		if chinese {
			usage, does = cmp.Or(o.zhUsage, usage), o.zh
		}
		lines = append(lines, "/"+usage+" - "+does)
	}
	return strings.Join(lines, "\n")
}

// howToWrite says how people write to the bot in a chat, in English and Chinese. In a group a message or a command that
// does not name the bot may be for somebody else.
func howToWrite(cmd decision.Command) (en, zh string) {
	switch {
	case alone(cmd):
		en, zh = "Just write to me.", "直接发消息就可以。"
	case cmd.At == "":
		en, zh = "Mention me, or reply to me, also with a command.", "在群里请 @ 我，或者回复我的消息；发送命令时也一样。"
	default:
		en = "Mention me (" + cmd.At + "), or reply to me. A command needs my name here, as in /status" + cmd.At + "."
		zh = "在群里请 " + cmd.At + "，或者回复我的消息。命令要带上我的名字，例如 /status" + cmd.At + "。"
	}
	return en + " If you write while I am working, I read it at my next step.", zh + "我正在处理时发来的消息，会在下一步一起看到。"
}

func (c *Commands) hello(cmd decision.Command, say speak) (string, bool) {
	if alone(cmd) {
		return say(
			fmt.Sprintf("Hello, this is %s. Just write to me; /help"+cmd.At+" shows what else I can do.", c.Project),
			fmt.Sprintf("你好，我是 %s。直接发消息就可以，/help"+cmd.At+" 查看其他用法。", c.Project))
	}
	en, zh := howToWrite(cmd)
	return say(fmt.Sprintf("Hello, this is %s. %s", c.Project, en), fmt.Sprintf("你好，我是 %s。%s", c.Project, zh))
}

// speak chooses one of two languages: the one that people chose for the chat, otherwise that of Agent.md or of their
// messages.
type speak func(en, zh string) (string, bool)

func (c *Commands) speak(cmd decision.Command) speak {
	zh := cmd.Language == decision.LanguageChinese || cmd.Language == "" && (c.Chinese() || cmd.Chinese)
	return func(en, chinese string) (string, bool) {
		if zh {
			return chinese, true
		}
		return en, true
	}
}

// Answer answers a command.
func (c *Commands) Answer(cmd decision.Command) (string, bool) {
	say := c.speak(cmd)
	switch cmd.Name {
	case "start":
		return c.hello(cmd, say)
	case "help":
		en, zh := howToWrite(cmd)
		return say(help(here(c.orders(), cmd), en, false), help(here(c.orders(), cmd), zh, true))
	case "status":
		return c.chatStatus(cmd, say)
	case "usage":
		// In a group everybody reads the answer, so it has nothing about other people and chats even if the owner asks.
		owner := alone(cmd) && c.isOwner(cmd)
		return say(c.Usage(cmd.ChatKey, messages.PersonKey(cmd.By.Platform, cmd.By.ID), owner))
	case "more":
		if !c.isOwner(cmd) {
			return say("Only my owner can allow more.", "只有主人可以允许更多用量。")
		}
		return say(c.More(cmd.Args, cmd.ChatKey, alone(cmd)))
	case "model":
		return c.modelAnswer(cmd, say)
	case "why":
		return c.whyAnswer(cmd, say)
	case "language":
		return c.chooseLanguage(cmd, say)
	case "compact":
		return compactAnswer(cmd.Compaction, say)
	case "new", "contexts", "load":
		if words, ok := c.contextsAnswer(cmd, say); ok {
			return words, true
		}
		return c.unknownCommand(cmd, say) // contexts are off
	case "tasks":
		return c.tasksAnswer(cmd, say)
	case "approvals", "approve", "deny": // the chat handles these itself, except those of bots
		return say("Only a message of your own decides about requests.", "只有你自己发送的消息才能审批请求。")
	case "allow":
		return say("This chat may use me.", "这个聊天可以使用我。")
	case "activation":
		if !alone(cmd) {
			addr, _ := cmd.ChatKey.Address()
			key := "adapters." + addr.Platform + ".groups"
			return say("On this platform the operator chooses what I listen to in a group, in ship.json ("+key+").", "在这个平台上，我在群里响应什么由管理员在 ship.json（"+key+"）里设置。")
		}
		return say("/activation"+cmd.At+" works in groups only: there, my owner chooses what I listen to.",
			"/activation"+cmd.At+" 只能在群里使用：主人可以用它选择我在群里响应什么。")
	default:
		return c.unknownCommand(cmd, say)
	}
}

// alone reports whether a command was given in a private chat.
func alone(cmd decision.Command) bool {
	a, _ := cmd.ChatKey.Address()
	return !messages.IsGroup(cmd.ChatType, a.Chat)
}

// MayChange reports whether somebody may change the settings of a chat: anyone in a private chat, the owner in a group.
func (c *Commands) MayChange(cmd decision.Command) bool {
	return alone(cmd) || c.Role(query.BotOf(cmd.ChatKey), cmd.By.ID) == platform.RoleOwner
}

// isOwner reports whether the owner of the bot gave a command. The page and the terminal are the owner's.
func (c *Commands) isOwner(cmd decision.Command) bool {
	a, _ := cmd.ChatKey.Address()
	return a.Platform == "web" || a.Platform == "cli" || c.Role(query.BotOf(cmd.ChatKey), cmd.By.ID) == platform.RoleOwner
}

// languageOf returns the language that people name, or nothing for the automatic choice.
func languageOf(args string) (choice string, ok bool) {
	switch strings.ToLower(strings.Trim(args, " .。")) {
	case decision.LanguageEnglish, "english", "英文", "英语":
		return decision.LanguageEnglish, true
	case decision.LanguageChinese, "chinese", "中文", "汉语":
		return decision.LanguageChinese, true
	case "auto", "自动":
		return "", true
	}
	return "", false
}

func (c *Commands) chooseLanguage(cmd decision.Command, say speak) (string, bool) {
	choice, ok := languageOf(cmd.Args)
	if !ok {
		now := map[string][2]string{
			decision.LanguageEnglish: {"English", "英文"}, decision.LanguageChinese: {"Chinese", "中文"}, "": {"automatic", "自动"},
		}[cmd.Language]
		if !c.MayChange(cmd) {
			return say("The language of my own words here: "+now[0]+". In a group, only my owner can choose it.", "当前提示语的语言："+now[1]+"。在群里只有主人可以选择。")
		}
		return say("The language of my own words here: "+now[0]+". Choose with /language"+cmd.At+" en, /language"+cmd.At+" zh or /language"+cmd.At+" auto.",
			"当前提示语的语言："+now[1]+"。可以发送 /language"+cmd.At+" en、/language"+cmd.At+" zh 或 /language"+cmd.At+" auto 来选择。")
	}
	if !c.MayChange(cmd) {
		return say("In a group, only my owner can choose the language. Nothing was changed.", "在群里，只有主人可以选择语言，未做任何更改。")
	}
	if err := c.Preferences.SetLanguage(cmd.ChatKey, choice); err != nil {
		c.Logger.Warn("the language of a chat could not be stored", "chat_key", string(cmd.ChatKey), "error", err)
		return say("The language could not be changed; it is as it was. The operator finds the reason in the log.", "语言没有更改成功，保持原样。管理员可以查看日志中的原因。")
	}
	if cmd.Language = choice; choice == "" {
		return c.speak(cmd)("From now on the language of my own words here is chosen automatically. What I answer with follows what you write.",
			"从现在起，这里的提示语会自动选择语言。回答的语言跟随你的消息。")
	}
	return c.speak(cmd)("From now on my own words here are in English. What I answer with follows what you write.",
		"从现在起，这里的提示语使用中文。回答的语言跟随你的消息。")
}

// compactAnswer describes the result of a request to compact a chat.
func compactAnswer(c decision.Compaction, say speak) (string, bool) {
	switch c {
	case decision.CompactionUnderWay:
		return say("I am summing up the older part of this chat. Go on writing meanwhile.", "正在把较早的对话压缩成摘要，可以继续发消息。")
	case decision.CompactionNothing:
		return say("This chat is still short, so there is nothing to sum up yet.", "对话还不长，暂时不需要压缩。")
	case decision.CompactionOff:
	}
	return say("Summing up chats is turned off here.", "这里没有开启对话压缩。")
}

func (c *Commands) chatStatus(cmd decision.Command, say speak) (string, bool) {
	doing, tut := "idle", "空闲"
	if cmd.Running {
		doing, tut = "working", "处理中"
	}
	if c.Preferences.Paused(cmd.ChatKey) {
		doing, tut = doing+", paused", tut+"，已暂停"
	}
	en, zh := c.modelTroubles()
	if u := cmd.Usage; u.InputTokens > 0 {
		en += fmt.Sprintf("\nlast answer: %d tokens read, %d of them from the cache, %d written", u.InputTokens, u.CachedInputTokens, u.OutputTokens)
		zh += fmt.Sprintf("\n上次回答：读取 %d 个 token（其中 %d 个来自缓存），生成 %d 个", u.InputTokens, u.CachedInputTokens, u.OutputTokens)
	}
	spent, zhSpent := c.Spent(cmd.ChatKey)
	en, zh = en+spent, zh+zhSpent
	enRequests, zhRequests := "", ""
	if n := cmd.Requests; n > 0 {
		enRequests = fmt.Sprintf("\nrequests waiting for a decision: %d (/approvals"+cmd.At+" shows them)", n)
		zhRequests = fmt.Sprintf("\n等待决定的请求：%d（发送 /approvals"+cmd.At+" 查看）", n)
	}
	return say(
		fmt.Sprintf("%s · %s\nchat: %s\nmodel: %s%s\nmessages here: %d, about %d tokens for the model\nmessages waiting: %d, received so far: %d",
			c.Project, doing, cmd.ChatKey, labelled(cmd.Model, false), en, cmd.Turns, cmd.Tokens, cmd.Waiting, cmd.Counts.Accepted)+enRequests,
		fmt.Sprintf("%s · %s\n聊天：%s\n模型：%s%s\n这个聊天的消息：%d，约占 %d 个 token\n等待处理：%d，累计收到：%d",
			c.Project, tut, cmd.ChatKey, labelled(cmd.Model, true), zh, cmd.Turns, cmd.Tokens, cmd.Waiting, cmd.Counts.Accepted)+zhRequests)
}

// whyAnswer explains from the ledger what happened to a message.
func (c *Commands) whyAnswer(cmd decision.Command, say speak) (string, bool) {
	e := cmd.Why
	if e == nil {
		return say("I know of no message here that went without an answer of its own.", "这里没有未单独回复的消息。")
	}
	en, zh := fateWords(*e, cmd.At)
	who := platform.Inert(cmp.Or(e.Username, e.UserID))
	at := time.UnixMilli(e.TS).In(c.Zone).Format("2006-01-02 15:04:05")
	return say(
		fmt.Sprintf("The message of %s from %s: %s\n(record: %s)", at, who, en, recordOf(*e)),
		fmt.Sprintf("%s 来自 %s 的消息：%s\n（记录：%s）", at, who, zh, recordOf(*e)))
}

// recordOf lists the fields of a ledger entry, for further investigation.
func recordOf(e journal.LedgerEntry) string {
	out := []string{string(e.Fate)}
	for _, m := range []struct{ name, value string }{{"reason", e.Reason}, {"message", e.MessageID}, {"request", e.RequestID}, {"run", e.RunID}} {
		if m.value != "" {
			out = append(out, m.name+" "+m.value)
		}
	}
	return strings.Join(out, ", ")
}

func fateWords(e journal.LedgerEntry, at string) (en, zh string) {
	switch e.Fate {
	case journal.FateMerged:
		return fmt.Sprintf("it came while I was working and was taken in at step %d of that work; the answer covers it.", e.Step),
			fmt.Sprintf("到达时我正在处理别的消息，已在第 %d 步一并看到，回答里包含了它。", e.Step)
	case journal.FateStopped:
		if e.Reason == "taken_back" {
			return "it was recalled before I had read it.", "它在我读到之前被撤回了。"
		}
		return "the work on it was stopped.", "处理被停止了。"
	case journal.FateAnswered:
		if e.Reason == "command" || e.Reason == "stop" {
			return "it was a command, which I answered myself.", "这是一条命令，我已直接回复。"
		}
		return "it was answered.", "已经回答过了。"
	case journal.FateIgnored, journal.FateDeclined:
	}
	if w, ok := gateWords(at)[e.Reason]; ok {
		return w[0], w[1]
	}
	if e.Fate == journal.FateIgnored {
		return "it was not for me.", "它不是发给我的。"
	}
	return "it was not taken.", "没有接收。"
}

// gateWords explain the reasons in the ledger, in English and Chinese.
func gateWords(at string) map[string][2]string {
	return map[string][2]string{
		"unaddressed":       {"it did not speak to me, and in this group I answer only what does.", "它没有叫我，在这个群里我只响应对我说的消息。"},
		"not_paired":        {"my owner had not let its sender in yet.", "当时主人还没有放行它的发送者。"},
		"group_not_allowed": {"this group could not use me yet; my owner lets it in with /allow" + at + ".", "当时这个群还没有开放，主人可以用 /allow" + at + " 开放。"},
		"owner_only":        {"only my owner may give that command.", "只有主人可以使用那个命令。"},
		"taken_back":        {"somebody recalled a message.", "有人撤回了一条消息。"},
		"bot":               {"a bot wrote it.", "它来自一个机器人。"},
		"bot_loop":          {"it was one more message between bots; I end such talks after a while.", "这是机器人之间的对话，我会适时结束。"},
		"anonymous":         {"it was sent in the name of a chat, so I cannot tell who wrote it.", "它以群的名义匿名发送，无法确认发送者。"},
		"channel":           {"it is a post of a channel.", "它是频道消息。"},
		"service":           {"it is a notice of the platform, without words.", "它是平台的系统消息，没有文字。"},
		"unchanged":         {"that edit changed nothing that I can see.", "这次编辑没有改变我能看到的内容。"},
		"live_location":     {"it only updates a shared location.", "它是共享位置的更新。"},
		"other_bot":         {"it was a command for another bot.", "它是发给另一个机器人的命令。"},
		"lane_full":         {"too many messages were waiting here.", "等待处理的消息太多。"},
		"parked":            {"I could not handle it and put it aside; the operator finds it with sma outbox list.", "我无法处理它，已搁置；管理员可以用 sma outbox list 查看。"},
	}
}

// contextsAnswer describes the results of the commands new, contexts and load.
func (c *Commands) contextsAnswer(cmd decision.Command, say speak) (string, bool) {
	switch a := cmd.Contexts; a.Outcome {
	case decision.ContextsNew:
		return say("We start afresh. What was said before is archived: /contexts"+cmd.At+" lists it, /load"+cmd.At+" 1 brings it back.",
			"已开始新的对话。之前的内容已归档：发送 /contexts"+cmd.At+" 查看，发送 /load"+cmd.At+" 1 恢复。")
	case decision.ContextsLoaded:
		return say("Back in: "+c.contextLine(a.Items[0], say), "已恢复："+c.contextLine(a.Items[0], say))
	case decision.ContextsListed:
		if len(a.Items) == 0 {
			return say("No conversation is archived yet. /new"+cmd.At+" archives this one and starts afresh.", "还没有归档的对话。/new"+cmd.At+" 会归档当前对话并重新开始。")
		}
		return say("Archived conversations, the newest first. To bring one back, send /load"+cmd.At+" with its number or a few of its words.\n\n"+c.contextLines(a.Items, true, say),
			"已归档的对话（最新在前）。发送 /load"+cmd.At+" 加编号或关键词即可恢复。\n\n"+c.contextLines(a.Items, true, say))
	case decision.ContextsChoose:
		if len(a.Items) == 0 {
			return say("No conversation is archived yet, so there is nothing to bring back.", "还没有归档的对话，因此没有可以恢复的内容。")
		}
		return say("I cannot tell which conversation you mean. Send /load"+cmd.At+" with its id, for example /load"+cmd.At+" "+a.Items[0].ID+".\n\n"+c.contextLines(a.Items, false, say),
			"我不确定你指的是哪个对话。请发送 /load"+cmd.At+" 加它的 id，例如 /load"+cmd.At+" "+a.Items[0].ID+"。\n\n"+c.contextLines(a.Items, false, say))
	case decision.ContextsEmpty:
		return say("This conversation is still empty, so there is nothing to archive.", "当前对话还是空的，没有可以归档的内容。")
	case decision.ContextsBusy:
		return say("I am still working on something here. Send the command again when I am done, or send /stop"+cmd.At+" first.", "我还在处理中。请等我完成后再发送这个命令，或先发送 /stop"+cmd.At+"。")
	case decision.ContextsFailed:
		return say("That did not work; everything is as it was. The operator finds the reason in the log.", "没有成功，对话保持原样。管理员可以查看日志中的原因。")
	case decision.ContextsOff:
	}
	return "", false
}

// contextLines lists contexts, one per line, by number or by id.
func (c *Commands) contextLines(items []journal.ContextItem, numbered bool, say speak) string {
	var out []string
	for i, item := range items {
		name := "`" + item.ID + "`"
		if numbered {
			name = fmt.Sprint(i+1, ".")
		}
		out = append(out, name+" "+c.contextLine(item, say))
	}
	return strings.Join(out, "\n")
}

func (c *Commands) contextLine(item journal.ContextItem, say speak) string {
	title := cmp.Or(item.Title, item.ID)
	at := time.UnixMilli(item.ArchivedAt).In(c.Zone).Format("2006-01-02 15:04")
	unit := "messages"
	if item.MessageCount == 1 {
		unit = "message"
	}
	text, _ := say(fmt.Sprintf("%s (%s, %d %s)", title, at, item.MessageCount, unit), fmt.Sprintf("%s（%s，%d 条消息）", title, at, item.MessageCount))
	return text
}
