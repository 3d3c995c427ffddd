package approval

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/shipmyagent/shipmyagent/actors/chat/notices"
	"github.com/shipmyagent/shipmyagent/actors/internal/approval/visible"
	"github.com/shipmyagent/shipmyagent/actors/internal/loop"
	"github.com/shipmyagent/shipmyagent/adapters/tool"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/journal"
)

// Digest binds an approval to the tool, to the exact input that people were shown, and to what else the tool reports
// as part of the effect.
func Digest(name string, input json.RawMessage, bind string) string {
	text := append([]byte(name+"\n"), loop.Canonical(input)...)
	if bind != "" {
		text = append(append(text, '\n'), bind...)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Bound reports whether a call is still the one that people were asked about.
func Bound(r journal.Request, call uimessage.Tool) bool {
	return r.Digest == Digest(call.Name, call.Input, r.Bind)
}

// maxHead is how much of a request is shown when it is listed again, in characters.
const maxHead = 80

// DecideThese asks for a decision about the requests listed below it.
func DecideThese(list []journal.Asked, at string) notices.Text {
	n := strconv.Itoa(list[0].Request.N)
	if len(list) == 1 {
		return notices.Text{"This request waits for a decision. Send /approve" + at + " " + n + " or /deny" + at + " " + n + ":", "以下请求在等待决定，请发送 /approve" + at + " " + n + " 或 /deny" + at + " " + n + "："}
	}
	return notices.Text{
		"These requests wait for a decision. Please name them by number, for example /approve" + at + " " + n + " or /deny" + at + " " + n + ":",
		"以下请求在等待决定，请用编号指明，例如 /approve" + at + " " + n + " 或 /deny" + at + " " + n + "：",
	}
}

// OthersDecide says that the requests listed below it wait for somebody else.
func OthersDecide(list []journal.Asked) notices.Text {
	if len(list) == 1 {
		return notices.Text{"This request waits for somebody else's decision. You cannot approve it yourself:", "以下请求在等待其他人决定，你无权自行批准："}
	}
	return notices.Text{"These requests wait for somebody else's decision. You cannot approve them yourself:", "以下请求在等待其他人决定，你无权自行批准："}
}

// Words ask people about an open request: one plain sentence, exactly what would take effect, and how to answer and to
// allow more.
func Words(a journal.Asked, where, how, folder notices.Text) notices.Text {
	n := strconv.Itoa(a.Request.N)
	return notices.Text{
		"#" + n + ": " + where[0] + WhatOf(a, false) + ExactOf(a) + "\n\n" + how[0] + folder[0] + " Without an answer it expires in 30 minutes.",
		"#" + n + "：" + where[1] + WhatOf(a, true) + ExactOf(a) + "\n\n" + how[1] + folder[1] + "30 分钟内没有答复就失效。",
	}
}

// HowToAnswer says who can answer a request and how. If others decide, people only read who was asked in private.
func HowToAnswer(number int, asked []Decider, others, group bool, at string) notices.Text {
	n := strconv.Itoa(number)
	switch en, zh := WhoIsAsked(asked); {
	case !others:
		return notices.Text{"Answer yes or no, or /approve" + at + " " + n + " or /deny" + at + " " + n + ".", "请回复“批准”或“拒绝”，也可以发送 /approve" + at + " " + n + " 或 /deny" + at + " " + n + "。"}
	case len(asked) > 0:
		return notices.Text{"You cannot approve this yourself. I asked " + en + " in private.", "你无权自行批准。我已私下询问" + zh + "。"}
	}
	out := notices.Text{
		"You cannot approve this yourself, and nobody who may approve it has a private chat with me, so I could not ask anyone.",
		"你无权自行批准，有权批准的人都没有与我私聊，所以我无法询问任何人。",
	}
	if group {
		out[0] += " A person who may approve it can send /approve" + at + " " + n + " or /deny" + at + " " + n + " here, or press a button."
		out[1] += "有权批准的人可以在这里发送 /approve" + at + " " + n + "、/deny" + at + " " + n + "，或点按钮。"
	}
	return out
}

// HowToAllowFolder says how to approve a request and allow the folder of its files, to the reader or to the person in
// another chat who asked.
func HowToAllowFolder(number int, files, there, at string) notices.Text {
	order, folder := "/approve"+at+" "+strconv.Itoa(number)+" folder", visible.Sentence(files)
	if there == "" {
		return notices.Text{
			" " + order + " also allows all files directly in the folder “" + folder + "” for 60 minutes.",
			"发送 " + order + " 则在 60 分钟内同时允许发送直接位于文件夹“" + folder + "”中的所有文件。",
		}
	}
	return notices.Text{
		" " + order + " also allows all files directly in the folder “" + folder + "” for 60 minutes, when " + there + " asks for them in that chat.",
		"发送 " + order + " 则在 60 分钟内，" + there + "在那个聊天里要求时，同时允许发送直接位于文件夹“" + folder + "”中的所有文件。",
	}
}

// WordsOf returns the words of a request in a language.
func WordsOf(a journal.Asked, zh bool) messages.Words {
	if zh && a.Request.Chinese.What != "" {
		return a.Request.Chinese
	}
	return a.Request.Words
}

// WhatOf returns a request in plain sentences.
func WhatOf(a journal.Asked, zh bool) string {
	call, _ := a.Turn.CallOf(a.Request)
	said := WordsOf(a, zh)
	switch {
	case said.What == "" && ExactOf(a) == "" && zh:
		return "可以不带参数使用 " + ToolTitle(call) + " 吗？"
	case said.What == "" && ExactOf(a) == "":
		return "May I use " + ToolTitle(call) + ", without any values?"
	case said.What == "" && zh:
		return "可以用下面的参数使用 " + ToolTitle(call) + " 吗？"
	case said.What == "":
		return "May I use " + ToolTitle(call) + " with these values?"
	case said.Risk == "":
		return visible.Sentence(said.What)
	}
	return visible.Sentence(said.What) + "\n\n" + visible.Sentence(said.Risk)
}

// ExactOf returns exactly and completely what would take effect, to follow the sentences. It is empty if the sentences
// already say everything.
func ExactOf(a journal.Asked) string {
	exact := a.Request.Exact
	if exact == "" && a.Request.What == "" { // a request from an older version
		call, _ := a.Turn.CallOf(a.Request)
		exact = visible.Text(tool.Lines(call.Input))
	}
	if exact == "" {
		return ""
	}
	return "\n\n" + visible.Block("", exact)
}

// HeadOf returns a request in a few words.
func HeadOf(a journal.Asked, zh bool) string {
	call, _ := a.Turn.CallOf(a.Request)
	said := WordsOf(a, zh)
	words := a.Request.Exact
	switch {
	case words == "" && said.What == "":
		words = tool.Lines(call.Input)
	case words == "":
		words = said.What
	}
	r := []rune(words)
	words = visible.Sentence(string(r[:min(len(r), maxHead)]))
	if len(r) > maxHead {
		words += "…"
	}
	if said.Title == "" {
		return ToolTitle(call) + " " + words
	}
	return "**" + visible.Sentence(said.Title) + "** " + words
}

// ToolTitle returns the name by which people know a tool.
func ToolTitle(call uimessage.Tool) string {
	name := visible.Block("", visible.Text(call.Name))
	if !strings.ContainsAny(call.Name, "`\n") {
		name = "`" + visible.Text(call.Name) + "`"
	}
	if title := call.Title.Or(""); title != "" {
		return "**" + visible.Sentence(title) + "** (" + name + ")"
	}
	return name
}

// pathOf returns the file that a call names.
func pathOf(input json.RawMessage) string {
	var in struct {
		Path string `json:"path"`
	}
	_ = json.Unmarshal(input, &in) // any other input names no file
	return in.Path
}

// IDsOf returns the ids of requests, in order.
func IDsOf(list []journal.Asked) []string {
	ids := []string{}
	for _, a := range list {
		ids = append(ids, a.Request.ID)
	}
	return ids
}

// NamesOf returns what people may use instead of the number to name each of some requests: a command, a path, or the
// tool. Models choose paths. A path that is also the name of another tool's call, such as a command, names nothing.
func NamesOf(list []journal.Asked) []string {
	names, tools := make([]string, len(list)), make([]string, len(list))
	for i, a := range list {
		call, _ := a.Turn.CallOf(a.Request)
		names[i], tools[i] = cmp.Or(a.Request.Command, pathOf(call.Input), call.Name), call.Name
	}
	out := slices.Clone(names)
	for i, a := range list {
		for j := range list {
			if a.Request.Command == "" && names[i] == names[j] && tools[i] != tools[j] {
				out[i] = ""
			}
		}
	}
	return out
}
