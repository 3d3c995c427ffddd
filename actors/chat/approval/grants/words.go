package grants

import (
	"strconv"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/notices"
	"github.com/shipmyagent/shipmyagent/actors/internal/approval/visible"
	"github.com/shipmyagent/shipmyagent/persistence/permission"
)

// RulesAllowed says what a person allowed for a time.
func RulesAllowed(minutes int, rules []string) notices.Text {
	n := strconv.Itoa(minutes)
	return above(notices.Text{
		"For " + n + unit(minutes) + ", what fits this runs without asking, in this chat, when you ask for it:",
		n + " 分钟内，在这个聊天里由你发起的、符合以下规则的命令不再询问：",
	}, rules)
}

// RulesAllowedThere says what a person allowed somebody in another chat for a time.
func RulesAllowedThere(minutes int, rules []string, who string) notices.Text {
	n := strconv.Itoa(minutes)
	return above(notices.Text{
		"For " + n + unit(minutes) + ", what fits this runs without asking in that chat, when " + who + " asks for it:",
		n + " 分钟内，在那个聊天里由" + who + "发起的、符合以下规则的命令不再询问：",
	}, rules)
}

// FoldersAllowed says which folders a person allowed.
func FoldersAllowed(folders []string, at string) notices.Text {
	return above(notices.Text{
		"For 60 minutes, files that are directly in this folder are sent to this chat without asking, when you ask for them. /approvals" + at + " shows this and takes it back.",
		"60 分钟内，由你要求时，直接位于这个文件夹中的文件会不经询问发送到这个聊天。/approvals" + at + " 可查看和撤销。",
	}, folders)
}

// FoldersAllowedThere says which folders a person allowed for somebody in another chat.
func FoldersAllowedThere(folders []string, who string) notices.Text {
	return above(notices.Text{
		"For 60 minutes, files that are directly in this folder are sent to that chat without asking, when " + who + " asks for them. The command sma approvals grants shows this, and sma approvals revoke takes it back.",
		"60 分钟内，" + who + "要求时，直接位于这个文件夹中的文件会不经询问发送到那个聊天。命令 sma approvals grants 可查看，sma approvals revoke 可撤销。",
	}, folders)
}

// above puts words above exact texts.
func above(words notices.Text, exact []string) notices.Text {
	var blocks []string
	for _, text := range exact {
		blocks = append(blocks, visible.Block("", visible.Text(text)))
	}
	return words.And("\n\n" + strings.Join(blocks, "\n\n"))
}

func unit(minutes int) string {
	if minutes == 1 {
		return " minute"
	}
	return " minutes"
}

// Names returns the names of grants for people.
func Names(numbers []int) string {
	var out []string
	for _, n := range numbers {
		out = append(out, "g"+strconv.Itoa(n))
	}
	return strings.Join(out, ", ")
}

// Words lists the active grants. It is empty if there are none.
func (b *Book) Words(now time.Time, platform, at string) notices.Text {
	list := b.Active(now)
	if len(list) == 0 {
		return notices.Text{}
	}
	first := Names([]int{list[0].N})
	out := notices.Text{
		"These run without asking. /approvals" + at + " revoke " + first + " revokes one, /approvals" + at + " revoke all revokes all:",
		"以下操作目前无需询问。/approvals" + at + " 撤销 " + first + " 可撤销其中一条，/approvals" + at + " 撤销 全部 可全部撤销：",
	}
	for _, g := range list {
		about, exact := b.about(g, now, platform), g.Rule
		if g.FilesIn != "" {
			exact = g.FilesIn
		}
		name, block := "\n\n"+Names([]int{g.N}), "\n\n"+visible.Block("", visible.Text(exact))
		out[0] += name + ": " + about[0] + block
		out[1] += name + "：" + about[1] + block
	}
	return out
}

// about says for whom and how long a grant applies.
func (b *Book) about(g permission.Grant, now time.Time, platform string) notices.Text {
	who := g.Person
	if g.For != "" {
		who = platform + "-" + g.For
	}
	who = visible.Sentence(who)
	minutes := max(1, int(b.ends[g.ID].Sub(now).Round(time.Minute)/time.Minute))
	n := strconv.Itoa(minutes)
	left := notices.Text{n + " more" + unit(minutes), "还有 " + n + " 分钟"}
	switch folder := visible.Sentence(g.Folder); {
	case g.FilesIn != "":
		return notices.Text{"files directly in this folder are sent, for " + who + ", " + left[0], "发送直接位于这个文件夹中的文件，限 " + who + "，" + left[1]}
	case g.Until == 0:
		return notices.Text{"without an end, as a rule of the operator's covers it", "没有期限，由管理员的规则覆盖"}
	default:
		return notices.Text{"for " + who + " in folder " + folder + ", " + left[0], who + " 在文件夹 " + folder + "，" + left[1]}
	}
}
