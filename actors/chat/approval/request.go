package approval

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
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
func DecideThese(list []journal.Asked) notices.Text {
	n := strconv.Itoa(list[0].Request.N)
	if len(list) == 1 {
		return notices.Text{"This request waits for a decision. Send /approve " + n + " or /deny " + n + ":", "以下请求在等待决定，请发送 /approve " + n + " 或 /deny " + n + "："}
	}
	return notices.Text{
		"These requests wait for a decision. Please name them by number, for example /approve " + n + " or /deny " + n + ":",
		"以下请求在等待决定，请用编号指明，例如 /approve " + n + " 或 /deny " + n + "：",
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
	call, _ := a.Turn.Call(a.Request.CallID)
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
		call, _ := a.Turn.Call(a.Request.CallID)
		exact = visible.Text(tool.Lines(call.Input))
	}
	if exact == "" {
		return ""
	}
	return "\n\n" + visible.Block("", exact)
}

// HeadOf returns a request in a few words.
func HeadOf(a journal.Asked, zh bool) string {
	call, _ := a.Turn.Call(a.Request.CallID)
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

// NameOf returns what people may use instead of the number to name a request.
func NameOf(a journal.Asked) string {
	call, _ := a.Turn.Call(a.Request.CallID)
	switch {
	case a.Request.Command != "":
		return a.Request.Command
	case pathOf(call.Input) != "":
		return pathOf(call.Input)
	}
	return call.Name
}
