package commands

import (
	"fmt"
	"strings"

	"github.com/shipmyagent/shipmyagent/actors/chat/machine/decision"
	"github.com/shipmyagent/shipmyagent/adapters/platform"
)

// modelAnswer describes the result of the command model.
func (c *Commands) modelAnswer(cmd decision.Command, say speak) (string, bool) {
	now := cmd.Model
	switch {
	case len(c.Models()) < 2:
		return say(
			fmt.Sprintf("Model: %s. Only the operator changes it, in ship.json (llm.model).", now.Label),
			fmt.Sprintf("模型：%s。只有管理员可以在 ship.json（llm.model）里更换。", now.Label))
	case now.Are == decision.ModelChanged:
		return say(fmt.Sprintf("From now on, %s answers here.", named(now.ModelChoice, false)), fmt.Sprintf("从现在起，这里由 %s回答。", named(now.ModelChoice, true)))
	case now.Are == decision.ModelForbidden:
		return say("Only a message of your own can choose the model, and in a group only my owner can. Nothing was changed.",
			"只有本人发送的消息才能选择模型；在群里只有主人可以选择。未做任何更改。")
	case now.Are == decision.ModelUnknown:
		wanted := platform.Inert(strings.TrimSpace(cmd.Args))
		return say(fmt.Sprintf("There is no model called %s. Choose one of these with /model NAME:\n\n%s", wanted, c.modelLines(false)),
			fmt.Sprintf("没有名为 %s 的模型。可以发送 /model 名称，选择下面的一个：\n\n%s", wanted, c.modelLines(true)))
	}
	return say(fmt.Sprintf("The model here is %s. Choose another with /model NAME:\n\n%s", named(now.ModelChoice, false), c.modelLines(false)),
		fmt.Sprintf("这里使用的模型是 %s。可以发送 /model 名称 更换：\n\n%s", named(now.ModelChoice, true), c.modelLines(true)))
}

// named is a model as people know it.
func named(m decision.ModelChoice, chinese bool) string {
	if chinese {
		return m.Name + "（" + m.Label + "）"
	}
	return m.Name + " (" + m.Label + ")"
}

// modelLines lists the models, one per line.
func (c *Commands) modelLines(chinese bool) string {
	var lines []string
	for _, m := range c.Models() {
		lines = append(lines, named(m, chinese))
	}
	return strings.Join(lines, "\n")
}
