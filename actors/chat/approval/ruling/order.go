package ruling

import (
	"slices"
	"strconv"
	"strings"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// parseAboutGrants parses the arguments of /approvals: nothing, `revoke g1 g2`, or `revoke all`. The g is optional,
// because requests cannot be revoked.
func parseAboutGrants(args string) Order {
	words := strings.Fields(strings.NewReplacer(",", " ", "，", " ", "、", " ").Replace(strings.ToLower(args)))
	if len(words) == 0 || !slices.Contains([]string{"revoke", "撤销", "撤回", "收回"}, words[0]) {
		return Order{Lists: true}
	}
	o := Order{Revokes: true, Unclear: len(words) == 1}
	for _, word := range words[1:] {
		if len(words) == 2 && slices.Contains([]string{"all", "全部", "所有"}, word) {
			o.All = true
			continue
		}
		n, err := strconv.ParseUint(strings.TrimPrefix(word, "g"), 10, 31)
		o.Unclear = o.Unclear || err != nil || n == 0
		o.Numbers = append(o.Numbers, int(n)) // 31 bits
	}
	return o
}

// Order is a command about requests for approval.
type Order struct {
	Approves, Lists, Revokes, All bool
	Folder                        bool // approves, and allows the folder of the files for a time

	Numbers []int
	args    string // arguments of a denial, whose reason may begin with a number
	Reason  string
	Unclear bool
}

// ParseOrder parses `/approvals`, `/approvals revoke g1`, `/approve 1 2`, `/approve all`, `/approve 1 folder` and
// `/deny 2 reason`, sent to a bot with the name self. Without a number a command refers to the only open request.
func ParseOrder(text, self string) (o Order, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), "/")
	if !ok {
		return o, false
	}
	name, args, _ := strings.Cut(rest, " ")
	name, bot, to := strings.Cut(strings.ToLower(name), "@") // /approve@bot
	if to && (self == "" || !strings.EqualFold(bot, self)) {
		return o, false // the command is for another bot
	}
	switch name {
	case "approvals":
		return parseAboutGrants(args), true
	case "approve":
		o.Approves = true
	case "deny":
	default:
		return o, false
	}
	separators, after := []string{",", " ", "，", " ", "、", " "}, ""
	if !o.Approves { // /deny 1: too risky
		separators, after, o.args = append(separators, "：", " "), ":.", args
	}
	words := strings.Fields(strings.NewReplacer(separators...).Replace(args))
	for i, word := range words {
		n, isNumber := messages.NumberOf(strings.TrimRight(word, after))
		switch {
		case isNumber && !o.All:
			o.Numbers = append(o.Numbers, n)
			continue
		case i == 0 && strings.EqualFold(word, "all"):
			o.All = true
			continue
		case o.Approves && !o.All && i == len(words)-1 && slices.Contains([]string{"folder", "文件夹"}, strings.ToLower(word)):
			o.Folder = true
			continue
		}
		if o.Unclear = o.Approves || i == 0; !o.Unclear {
			o.Reason = argsAfter(args, i)
		}
		break
	}
	return o, true
}

// argsAfter returns the arguments of a command after the first n words.
func argsAfter(args string, n int) string {
	const between = " ,，、：\t\n"
	for range n {
		args = strings.TrimLeft(args, between)
		args = args[max(0, strings.IndexAny(args+" ", between)):]
	}
	return strings.Trim(args, between)
}

// withReason begins the reason of a denial at the first number that is not another open request, if words follow it:
// "/deny 1 2 files are too many", "/deny 1 1 file is too few".
func (o Order) withReason(open []journal.Asked) Order {
	if o.Approves || o.Reason == "" {
		return o
	}
	for i, n := range o.Numbers {
		another := slices.ContainsFunc(open, func(a journal.Asked) bool { return a.Request.N == n }) && !slices.Contains(o.Numbers[:i], n)
		if i > 0 && !another {
			if reason := argsAfter(o.args, i); !strings.HasPrefix(reason, "#") {
				o.Numbers, o.Reason = o.Numbers[:i], reason
			}
			break
		}
	}
	return o
}

// pick returns the requests that a command refers to. It returns false if that is not clear.
func (o Order) pick(open []journal.Asked) ([]journal.Asked, bool) {
	switch {
	case o.Unclear:
		return nil, false
	case o.All:
		return open, len(open) > 0
	case len(o.Numbers) == 0:
		return open, len(open) == 1
	}
	var those []journal.Asked
	for _, n := range o.Numbers {
		i := slices.IndexFunc(open, func(a journal.Asked) bool { return a.Request.N == n })
		if i < 0 {
			return nil, false
		}
		if !slices.ContainsFunc(those, func(a journal.Asked) bool { return a.Request.N == n }) {
			those = append(those, open[i])
		}
	}
	return those, true
}
