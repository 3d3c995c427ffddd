package machine

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/actors/chat/approval"
	"github.com/shipmyagent/shipmyagent/actors/chat/notices"
	"github.com/shipmyagent/shipmyagent/actors/internal/approval/visible"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
	"github.com/shipmyagent/shipmyagent/persistence/permission"
)

// Reasons why grants are not revoked, for programs.
const (
	revokeUnknown   = "not_found"
	revokeForbidden = "forbidden"
)

// counting returns the grants that are active: neither revoked nor ended.
func (c *Chat) counting() []permission.Grant {
	c.readGrants()
	now := c.now()
	return slices.DeleteFunc(slices.Clone(c.grants.list), func(g permission.Grant) bool {
		return g.Revoked != 0 || g.Until != 0 && !now.Before(c.grants.ends[g.ID])
	})
}

// aboutApprovals handles approval commands that are not written in words.
func (c *Chat) aboutApprovals(msg messages.ToChat) {
	switch msg := msg.(type) {
	case messages.DecideApproval:
		c.decideApproval(msg)
	case messages.RevokeGrants:
		c.revokeGrants(msg)
	default: // only these are about approvals
	}
}

// revokeGrants revokes grants at the request of the host.
func (c *Chat) revokeGrants(msg messages.RevokeGrants) {
	gone, reason := c.revoke(msg.By, false, msg.RequestID, msg.Numbers)
	c.answer(messages.GrantsRevoked{ChatKey: c.key, Numbers: gone, Reason: reason})
}

// revoke revokes grants by their numbers, or without numbers all that the person may revoke. The change is durable
// before anyone is informed, and a run in progress learns of it before its next call begins. If one of the numbers is
// unknown or forbidden, nothing is revoked and the reason is returned.
func (c *Chat) revoke(by messages.Asker, admin bool, requestID string, numbers []int) (gone []int, reason string) {
	counting := c.counting()
	for _, n := range numbers {
		if !slices.ContainsFunc(c.grants.list, func(g permission.Grant) bool { return g.N == n }) {
			return nil, revokeUnknown
		}
	}
	list, now := slices.Clone(c.grants.list), c.now().UnixMilli()
	var taken []permission.Grant
	for i, g := range list {
		if len(numbers) > 0 && !slices.Contains(numbers, g.N) {
			continue
		}
		counts := slices.ContainsFunc(counting, func(o permission.Grant) bool { return o.ID == g.ID })
		switch {
		case !c.mayDecide(by, c.personOf(g), admin):
			if len(numbers) > 0 {
				return nil, revokeForbidden
			}
			if counts {
				reason = revokeForbidden
			}
			continue
		case counts:
			list[i].Revoked = now
			taken = append(taken, g)
		case len(numbers) == 0:
			continue
		}
		gone = append(gone, g.N)
	}
	switch {
	case len(gone) == 0:
		return nil, cmp.Or(reason, revokeUnknown)
	case len(taken) == 0:
		return gone, "" // they were already revoked
	}
	c.saveGrants(list)
	for _, g := range taken {
		c.audit(AuditEntry{Event: "approval", RequestID: requestID, Result: "revoked", By: by.Platform + "-" + by.ID, Name: g.ID, Rule: g.Covers()})
	}
	if c.RunChild() != "" {
		c.tellRun(messages.GrantsChanged{RunID: c.run.id, Grants: c.live()})
	}
	return gone, ""
}

// personOf returns the platform's id of the person who gave a grant.
func (c *Chat) personOf(g permission.Grant) string {
	a, _ := c.key.Address()
	return strings.TrimPrefix(g.Person, a.Platform+"-")
}

// obeyRevoke revokes grants on a person's order.
func (c *Chat) obeyRevoke(msg messages.AcceptIngress, turn journal.Turn, by messages.Asker, o approval.Order) bool {
	if !c.canSay(msg) {
		return false
	}
	if o.Unclear {
		return c.notRevoked(msg, turn, notices.RevokeUsage())
	}
	gone, reason := c.revoke(by, msg.Admin, msg.RequestID, o.Numbers)
	if reason == revokeUnknown {
		return c.notRevoked(msg, turn, notices.NoGrant())
	}
	say := notices.MayNotRevoke()
	if c.adminsUnknown() {
		say = notices.AdminsUnknown()
	}
	if reason == "" {
		names := strings.Join(grantNames(gone), ", ")
		say = notices.Text{"Revoked: " + names + ". What it covered asks again from now on.", "已撤销：" + names + "。此后会重新询问。"}
	}
	c.settleAtOnce(msg, turn, journal.FateAnswered, "approval", c.text(say, turn))
	return true
}

// notRevoked answers an order that revokes nothing, and lists the active grants if there are any.
func (c *Chat) notRevoked(msg messages.AcceptIngress, turn journal.Turn, n notices.Text) bool {
	words := c.text(n, turn)
	if list := c.counting(); len(list) > 0 {
		words += "\n\n" + c.countingWords(list, turn)
	}
	c.settleAtOnce(msg, turn, journal.FateAnswered, "approval", words)
	return true
}

func grantNames(numbers []int) []string {
	var out []string
	for _, n := range numbers {
		out = append(out, "g"+strconv.Itoa(n))
	}
	return out
}

// listAll answers with all open requests and all active grants. It returns false if the chat cannot answer the sender.
func (c *Chat) listAll(msg messages.AcceptIngress, turn journal.Turn) bool {
	if !c.canSay(msg) {
		return false
	}
	others, waits := c.gather(msg)
	if waits {
		return true
	}
	open := c.openHere()
	words := c.listWords(open, msg, turn)
	if others > 0 {
		words += "\n\n" + c.text(notices.OthersWait(others), turn)
	}
	if list := c.counting(); len(list) > 0 {
		words += "\n\n" + c.countingWords(list, turn)
	}
	c.settleShowing(msg, turn, words, open)
	return true
}

// countingWords lists active grants.
func (c *Chat) countingWords(list []permission.Grant, turn journal.Turn) string {
	first := "g" + strconv.Itoa(list[0].N)
	lines := []string{c.text(notices.Text{
		"These run without asking. /approvals revoke " + first + " revokes one, /approvals revoke all revokes all:",
		"以下操作目前无需询问。/approvals 撤销 " + first + " 可撤销其中一条，/approvals 撤销 全部 可全部撤销：",
	}, turn)}
	for _, g := range list {
		who := visible.Sentence(c.serves(g))
		about := notices.Text{"without an end, as a rule of the operator's covers it", "没有期限，由管理员的规则覆盖"}
		if g.Until != 0 {
			left := c.timeLeft(g)
			folder := visible.Sentence(g.Folder)
			about = notices.Text{"for " + who + " in folder " + folder + ", " + left[0], who + " 在文件夹 " + folder + "，" + left[1]}
		}
		name, colon := "g"+strconv.Itoa(g.N), notices.Text{": ", "："}
		if g.FilesIn != "" {
			left := c.timeLeft(g)
			lines = append(lines, name+c.text(colon, turn)+c.text(notices.Text{
				"files directly in this folder are sent, for " + who + ", " + left[0],
				"发送直接位于这个文件夹中的文件，限 " + who + "，" + left[1],
			}, turn)+"\n\n"+visible.Block("", visible.Text(g.FilesIn)))
			continue
		}
		lines = append(lines, name+c.text(colon, turn)+c.text(about, turn)+"\n\n"+visible.Block("", visible.Text(g.Rule)))
	}
	return strings.Join(lines, "\n\n")
}

// serves returns the person for whom a grant applies: who gave it, unless it was given for somebody else.
func (c *Chat) serves(g permission.Grant) string {
	if g.For == "" {
		return g.Person
	}
	a, _ := c.key.Address()
	return a.Platform + "-" + g.For
}

// timeLeft says how long a grant remains active.
func (c *Chat) timeLeft(g permission.Grant) notices.Text {
	minutes := max(1, int(c.grants.ends[g.ID].Sub(c.now()).Round(time.Minute)/time.Minute))
	n, unit := strconv.Itoa(minutes), " more minutes"
	if minutes == 1 {
		unit = " more minute"
	}
	return notices.Text{n + unit, "还有 " + n + " 分钟"}
}
