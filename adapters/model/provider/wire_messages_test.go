package provider

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
)

func messagesHabits() map[string]change {
	block := func(f func(block object)) change {
		return edit(typed("content_block_start", func(o object) bool {
			if b := member(o, "content_block"); b["type"] == "tool_use" {
				f(b)
			}
			return true
		}))
	}
	return map[string]change{
		"the whole answer in one piece": messagesWhole,
		"empty pieces":                  doubled(messagesPiece("")),
		"null as a text":                doubled(messagesPiece(nil)),
		"no usage":                      without("usage"),
		"ids, names and numbers of other types": edit(func(o object) bool {
			m := member(o, "message")
			if m != nil {
				m["id"], m["model"], m["stop_sequence"], m["usage"] = 1, []any{"m"}, object{}, "7"
			}
			if o["usage"] != nil {
				o["usage"] = object{"output_tokens": "5"}
			}
			return true
		}),
		"the finish reason of another protocol": replaced(`"stop_reason":"tool_use"`, `"stop_reason":"tool_calls"`),
		"a cut before the end mark":             edit(typed("message_stop", dropped)),
		"no finish reason":                      replaced(`"stop_reason":"end_turn"`, `"stop_reason":null`),
		"an unknown finish reason":              replaced(`"stop_reason":"end_turn"`, `"stop_reason":"x_new"`),
		"no end mark":                           edit(typed("message_stop", dropped)),
		"the beginning twice":                   begun,
		"the beginning of another answer": func(list events) events {
			other := edit(func(o object) bool { member(o, "message")["id"] = "msg_other"; return true })(list[:1])
			call := slices.IndexFunc(list, func(e modeltest.WireEvent) bool { return strings.Contains(e.Data, "toolu_1") })
			return slices.Insert(list, call, other[0])
		},
		"the end twice":                               repeated(2),
		"blocks that do not begin":                    edit(typed("content_block_start", dropped)),
		"blocks that do not end":                      edit(typed("content_block_stop", dropped)),
		"no pieces, only whole blocks":                messagesWholeBlocks,
		"arguments in one piece":                      messagesWholeBlocks,
		"arguments of the other type: object or text": both(messagesWholeBlocks, block(func(b object) { b["input"] = encoded(member(b, "input")) })),
		"no arguments":                                edit(typed("content_block_delta", dropped)),
		"pieces of two calls in turns":                inTurns(messagesArguments, messagesRank),
		"no index":                                    without("index"),
		"one index for all":                           edit(func(o object) bool { o["index"] = 0; return true }),
		"calls without ids":                           block(func(b object) { delete(b, "id") }),
		"one id for all calls":                        block(func(b object) { b["id"] = "toolu_1" }),
		"no name of a tool":                           block(func(b object) { delete(b, "name") }),
		"a refusal of the model":                      replaced(`"stop_reason":"end_turn"`, `"stop_reason":"refusal"`),
	}
}

// messagesPiece returns a change that empties a piece of a block.
func messagesPiece(empty any) func(o object) bool {
	return func(o object) bool {
		delta := member(o, "delta")
		for _, name := range []string{"text", "thinking", "partial_json", "signature"} {
			if textIn(delta, name) != "" {
				delta[name] = empty
				return true
			}
		}
		return false
	}
}

// messagesWholeBlocks sends everything of a block with its beginning.
func messagesWholeBlocks(list events) (out events) {
	at := -1 // of the open block
	for _, e := range list {
		var o object
		_ = json.Unmarshal([]byte(e.Data), &o) // all of them are objects
		switch textIn(o, "type") {
		case "content_block_start":
			at = len(out)
			out = append(out, e)
		case "content_block_delta":
			out[at] = edit(func(start object) bool {
				joinBlock(member(start, "content_block"), member(o, "delta"))
				return true
			})(events{out[at]})[0]
		case "content_block_stop":
			out[at] = edit(func(start object) bool {
				wholeInput(member(start, "content_block"))
				return true
			})(events{out[at]})[0]
			out = append(out, e)
		default:
			out = append(out, e)
		}
	}
	return out
}

func joinBlock(block, delta object) {
	for _, name := range []string{"text", "thinking", "partial_json", "signature"} {
		if text := textIn(delta, name); text != "" {
			block[name] = textIn(block, name) + text
		}
	}
}

func wholeInput(block object) {
	if text := textIn(block, "partial_json"); text != "" {
		delete(block, "partial_json")
		block["input"] = json.RawMessage(text)
	}
}

// messagesWhole is the answer as a server sends it that does not stream.
func messagesWhole(list events) events {
	message, content := object{}, []any{}
	edit(func(o object) bool {
		switch textIn(o, "type") {
		case "message_start":
			message = member(o, "message")
		case "content_block_start":
			content = append(content, o["content_block"])
		case "message_delta":
			maps.Copy(message, member(o, "delta"))
			maps.Copy(member(message, "usage"), member(o, "usage"))
		}
		return true
	})(messagesWholeBlocks(slices.Clone(list)))
	message["content"] = content
	return events{modeltest.WireEvent{Data: encoded(message)}}
}

func messagesArguments(o object) (object, string) { return member(o, "delta"), "partial_json" }

// messagesRank ranks the events of the blocks after the reasoning and the text.
func messagesRank(o object) int {
	index, _ := o["index"].(float64)
	switch textIn(o, "type") {
	case "content_block_start", "content_block_delta":
		if index > 1 {
			return 1
		}
	case "content_block_stop":
		if index > 1 {
			return 9
		}
	}
	return 0
}
