package provider

import "github.com/shipmyagent/shipmyagent/adapters/model/modeltest"

func responsesHabits() map[string]change {
	inCalls := func(f func(item object)) change {
		return edit(func(o object) bool {
			forCalls(o, f)
			return true
		})
	}
	noArguments := both(edit(typed("response.function_call_arguments.", dropped)), inCalls(func(item object) { delete(item, "arguments") }))
	wholeArguments := edit(typed("response.function_call_arguments.delta", dropped))
	return map[string]change{
		"the whole answer in one piece": func(list events) events {
			var whole object
			edit(func(o object) bool { whole = member(o, "response"); return true })(list[len(list)-1:])
			return events{modeltest.WireEvent{Data: encoded(whole)}}
		},
		"empty pieces":   doubled(responsesPiece("")),
		"null as a text": doubled(responsesPiece(nil)),
		"no usage":       without("usage"),
		"ids, names and numbers of other types": edit(func(o object) bool {
			o["sequence_number"], o["item_id"] = "1", nil
			if r := member(o, "response"); r != nil {
				r["id"], r["model"], r["created_at"], r["usage"] = 1, []any{"m"}, "now", "7"
			}
			return true
		}),
		"an unknown finish reason": both(replaced("response.completed", "response.incomplete"), edit(typed("response.incomplete", func(o object) bool {
			r := member(o, "response")
			r["status"], r["incomplete_details"] = "incomplete", object{"reason": "x_new"}
			return true
		}))),
		"the beginning twice":          begun,
		"the end twice":                repeated(1),
		"blocks that do not begin":     edit(typed(".added", dropped)),
		"blocks that do not end":       edit(typed(".done", dropped)),
		"no pieces, only whole blocks": edit(typed(".delta", dropped)),
		"arguments in one piece":       wholeArguments,
		"arguments of the other type: object or text": both(edit(typed("response.function_call_arguments.", dropped)), inCalls(func(item object) {
			if textIn(item, "arguments") != "" {
				item["arguments"] = object{"q": "x"}
			}
		})),
		"no arguments": noArguments,
		"pieces of two calls in turns": inTurns(func(o object) (object, string) {
			if textIn(o, "type") != "response.function_call_arguments.delta" {
				return nil, ""
			}
			return o, "delta"
		}, responsesRank),
		"no index":               without("output_index", "content_index", "summary_index"),
		"one index for all":      edit(func(o object) bool { o["output_index"] = 0; return true }),
		"calls without ids":      inCalls(func(item object) { delete(item, "call_id") }),
		"one id for all calls":   inCalls(func(item object) { item["call_id"] = "toolu_1" }),
		"no name of a tool":      inCalls(func(item object) { delete(item, "name") }),
		"a refusal of the model": both(replaced("response.output_text.", "response.refusal.", `"type":"output_text"`, `"type":"refusal"`), responsesRefusal),
	}
}

func forCalls(o object, f func(item object)) {
	list, _ := member(o, "response")["output"].([]any)
	for _, v := range append(list, o["item"]) {
		if item, _ := v.(object); item["type"] == "function_call" {
			f(item)
		}
	}
}

// responsesPiece returns a change that empties a piece.
func responsesPiece(empty any) func(o object) bool {
	return func(o object) bool {
		if textIn(o, "delta") == "" {
			return false
		}
		o["delta"] = empty
		return true
	}
}

func responsesRefusal(list events) events {
	rename := func(o object) {
		if o["text"] != nil {
			o["refusal"] = o["text"]
			delete(o, "text")
		}
	}
	return edit(func(o object) bool {
		rename(o)
		rename(member(o, "part"))
		list, _ := member(o, "response")["output"].([]any)
		for _, v := range append(list, o["item"]) {
			item, _ := v.(object)
			parts, _ := item["content"].([]any)
			for _, p := range parts {
				part, _ := p.(object)
				rename(part)
			}
		}
		return true
	})(list)
}

// responsesRank ranks the events about calls.
func responsesRank(o object) int {
	isCall := false
	forCalls(object{"item": o["item"]}, func(object) { isCall = true })
	switch kind := textIn(o, "type"); {
	case kind == "response.output_item.added" && isCall:
		return 1
	case kind == "response.function_call_arguments.done":
		return 8
	case kind == "response.output_item.done" && isCall:
		return 9
	}
	return 0
}
