package commands

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
)

func (c *Commands) modelAnswer(cmd decision.Command, say speak) (string, bool) {
	now, all := cmd.Model, c.Models()
	efforts := slices.ContainsFunc(all, func(m decision.ModelChoice) bool { return len(m.Efforts) > 0 })
	switch {
	case len(all) < 2 && !efforts:
		return say(
			fmt.Sprintf("Model: %s. Only the operator changes it, in ship.json (llm.model).", now.Label),
			fmt.Sprintf("模型：%s。只有管理员可以在 ship.json（llm.model）里更换。", now.Label))
	case now.Outcome == decision.ModelChanged:
		en, zh := c.refusedWords(now)
		return say(fmt.Sprintf("From now on, %s answers here.", named(now, false))+en, fmt.Sprintf("从现在起，这里由 %s回答。", named(now, true))+zh)
	case now.Outcome == decision.ModelForbidden:
		return say("Only a message of your own can choose the model, and in a group only my owner can. Nothing was changed.",
			"只有本人发送的消息才能选择模型；在群里只有主人可以选择。未做任何更改。")
	case now.Outcome == decision.ModelUnable:
		return say(unableWords(now.Unable))
	case now.Outcome == decision.ModelUnknown:
		wanted := platform.Inert(strings.TrimSpace(cmd.Args))
		return say(fmt.Sprintf("There is no model called %s. Choose one of these with /model"+cmd.At+" NAME:\n\n%s", wanted, modelLines(all, false)),
			fmt.Sprintf("没有名为 %s 的模型。可以发送 /model"+cmd.At+" 名称，选择下面的一个：\n\n%s", wanted, modelLines(all, true)))
	}
	en, zh := "Choose another with /model"+cmd.At+" NAME", "可以发送 /model"+cmd.At+" 名称 更换"
	if efforts {
		en, zh = en+", and how much it thinks with /model"+cmd.At+" NAME EFFORT", zh+"，或发送 /model"+cmd.At+" 名称 强度 选择思考强度"
	}
	if !c.MayChange(cmd) {
		en, zh = "In a group only my owner can choose another", "在群里只有主人可以更换"
	}
	return say(fmt.Sprintf("The model here is %s. %s:\n\n%s", named(now, false), en, modelLines(all, false)),
		fmt.Sprintf("这里使用的模型是 %s。%s：\n\n%s", named(now, true), zh, modelLines(all, true)))
}

// refusedWords say that the service of a model has refused the chosen effort, in English and Chinese, if it has.
func (c *Commands) refusedWords(m decision.ModelAnswer) (en, zh string) {
	refused := func(s ModelStatus) bool {
		return s.Name == m.Label && slices.Contains(strings.Split(s.RefusedEfforts, ", "), m.Effort)
	}
	if m.Effort == "" || !slices.ContainsFunc(c.Health(), refused) {
		return "", ""
	}
	return " Its service has refused this effort, so it thinks as by default.", "它的服务拒绝过这个思考强度，因此会使用默认强度。"
}

// unableWords say that a model does not think as asked, and what can be chosen instead, in English and Chinese.
func unableWords(m decision.ModelChoice) (en, zh string) {
	who, whoZH := named(decision.ModelAnswer{ModelChoice: m}, false), named(decision.ModelAnswer{ModelChoice: m}, true)
	if len(m.Efforts) == 0 {
		return fmt.Sprintf("How much %s thinks cannot be chosen. Nothing was changed.", who), fmt.Sprintf("%s的思考强度不能选择。未做任何更改。", whoZH)
	}
	return fmt.Sprintf("How much %s thinks can be %s. Nothing was changed.", who, strings.Join(m.Efforts, ", ")),
		fmt.Sprintf("%s的思考强度可以是 %s。未做任何更改。", whoZH, strings.Join(m.Efforts, "、"))
}

// named is a model as people know it.
func named(m decision.ModelAnswer, chinese bool) string {
	if chinese {
		return m.Name + "（" + labelled(m, true) + "）"
	}
	return m.Name + " (" + labelled(m, false) + ")"
}

// labelled returns the name of a model and the thinking effort that people chose.
func labelled(m decision.ModelAnswer, chinese bool) string {
	switch {
	case m.Effort == "":
		return m.Label
	case chinese:
		return m.Label + "，思考强度 " + m.Effort
	}
	return m.Label + ", effort " + m.Effort
}

// modelLines lists the models with the efforts that they take, one model per line.
func modelLines(all []decision.ModelChoice, chinese bool) string {
	var lines []string
	for _, m := range all {
		line := named(decision.ModelAnswer{ModelChoice: m}, chinese)
		if len(m.Efforts) > 0 && chinese {
			line += "：" + strings.Join(m.Efforts, "、")
		} else if len(m.Efforts) > 0 {
			line += ": " + strings.Join(m.Efforts, ", ")
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
