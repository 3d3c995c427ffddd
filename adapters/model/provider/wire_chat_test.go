package provider

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
)

// chunkChoice returns the choice of a chunk, and its delta; they may be nil.
func chunkChoice(o object) (choice, delta object) {
	list, _ := o["choices"].([]any)
	if len(list) == 0 {
		return nil, nil
	}
	choice, _ = list[0].(object)
	return choice, member(choice, "delta")
}

// inChoice changes the choice of every chunk that has one.
func inChoice(f func(choice, delta object)) change {
	return edit(func(o object) bool {
		if choice, delta := chunkChoice(o); choice != nil {
			f(choice, delta)
		}
		return true
	})
}

// inCall changes the piece of a call in every chunk that has one.
func inCall(f func(call, function object)) change {
	return inChoice(func(_, delta object) {
		if list, _ := delta["tool_calls"].([]any); len(list) > 0 {
			call, _ := list[0].(object)
			f(call, member(call, "function"))
		}
	})
}

func chatHabits() map[string]change {
	return map[string]change{
		"the whole answer in one piece": chatWhole,
		"no pieces, only whole blocks":  func(list events) events { return append(chatWhole(list), list[len(list)-1]) },
		"empty pieces":                  doubled(chatPiece(object{}, "")),
		"null as a text":                doubled(chatPiece(object{"role": "assistant", "refusal": nil}, nil)),
		"no usage":                      without("usage"),
		"usage with the finish reason":  chatUsage(false),
		"usage in every event":          chatUsage(true),
		"usage in the choice": func(list events) events {
			var usage any
			return edit(func(o object) bool {
				if choice, _ := chunkChoice(o); choice["finish_reason"] != nil {
					choice["usage"] = usage
				}
				return o["usage"] == nil
			})(edit(func(o object) bool { usage = cmp.Or(o["usage"], usage); return true })(list))
		},
		"usage in a member of its own": edit(func(o object) bool {
			if o["usage"] != nil {
				o["x_groq"] = object{"usage": o["usage"]}
				delete(o, "usage")
			}
			return true
		}),
		"ids, names and numbers of other types": edit(func(o object) bool {
			o["id"], o["model"], o["created"], o["system_fingerprint"] = 1, []any{"m"}, "now", object{}
			if o["usage"] != nil {
				o["usage"] = "7"
			}
			return true
		}),
		"the finish reason of another protocol": replaced(`"finish_reason":"tool_calls"`, `"finish_reason":"tool_use"`),
		"a cut before the end mark":             func(list events) events { return list[:len(list)-1] },
		"no finish reason":                      inChoice(func(choice, _ object) { choice["finish_reason"] = nil }),
		"a finish reason in every event":        inChoice(func(choice, _ object) { choice["finish_reason"] = "stop" }),
		"an unknown finish reason":              replaced(`"finish_reason":"stop"`, `"finish_reason":"x_new"`),
		"no end mark":                           func(list events) events { return list[:len(list)-1] },
		"the beginning twice": func(list events) events {
			return append(edit(chatPiece(object{"role": "assistant"}, ""))(list[:1]), list...)
		},
		"the end twice":                               repeated(3),
		"text as a list of parts":                     chatParts,
		"reasoning under another name":                replaced(`"reasoning_content"`, `"reasoning"`),
		"several answers at once":                     doubled(chatOther),
		"an event without an answer first":            chatFirst,
		"arguments in one piece":                      chatWholeCalls,
		"arguments of the other type: object or text": both(chatWholeCalls, inCall(func(_, f object) { f["arguments"] = json.RawMessage(textIn(f, "arguments")) })),
		"no arguments":                                inCall(func(_, f object) { delete(f, "arguments") }),
		"pieces of two calls in turns":                inTurns(chatArguments, chatRank),
		"no index":                                    without("index"),
		"one index for all":                           both(chatWholeCalls, inCall(func(call, _ object) { call["index"] = 0 })),
		"calls without ids":                           inCall(func(call, _ object) { delete(call, "id") }),
		"one id for all calls":                        inCall(func(call, _ object) { call["id"] = "toolu_1" }),
		"the name of a tool twice":                    inCall(func(_, f object) { f["name"] = "look" }),
		"no name of a tool":                           inCall(func(_, f object) { delete(f, "name") }),
		"a refusal of the model":                      replaced(`"content"`, `"refusal"`),
	}
}

// chatPiece returns a change that empties the pieces of a chunk.
func chatPiece(more object, empty any) func(o object) bool {
	return func(o object) bool {
		choice, delta := chunkChoice(o)
		if delta == nil || choice["finish_reason"] != nil || delta["tool_calls"] != nil {
			return false
		}
		for name := range delta {
			delta[name] = empty
		}
		maps.Copy(delta, more)
		return true
	}
}

func chatOther(o object) bool {
	choice, delta := chunkChoice(o)
	if delta == nil || delta["tool_calls"] != nil {
		return false
	}
	choice["index"] = 1
	return true
}

func chatFirst(list events) events {
	first := modeltest.WireEvent{Data: `{"id":"","object":"","created":0,"model":"","choices":[],"prompt_filter_results":[{"prompt_index":0}]}`}
	return append(events{first}, list...)
}

func chatParts(list events) events {
	return inChoice(func(_, delta object) {
		if text := textIn(delta, "content"); text != "" {
			delta["content"] = []any{object{"type": "text", "text": text}}
		}
		if text := textIn(delta, "reasoning_content"); text != "" {
			delete(delta, "reasoning_content")
			delta["content"] = []any{object{"type": "thinking", "thinking": []any{object{"type": "text", "text": text}}}}
		}
	})(list)
}

// chatUsage adds the usage to the chunk with the finish reason or to every one.
func chatUsage(every bool) change {
	return func(list events) events {
		var usage any
		list = edit(func(o object) bool {
			if o["usage"] != nil {
				usage = o["usage"]
			}
			return o["usage"] == nil
		})(list)
		return edit(func(o object) bool {
			if choice, _ := chunkChoice(o); every || choice["finish_reason"] != nil {
				o["usage"] = usage
			}
			return true
		})(list)
	}
}

func chatWholeCalls(list events) (out events) {
	for _, e := range list {
		var o object
		_ = json.Unmarshal([]byte(e.Data), &o) // the end mark has no calls
		piece := callOf(o)
		if piece == nil || piece["id"] != nil {
			out = append(out, e)
			continue
		}
		last := &out[len(out)-1]
		*last = inCall(func(_, f object) {
			f["arguments"] = textIn(f, "arguments") + textIn(member(piece, "function"), "arguments")
		})(events{*last})[0]
	}
	return out
}

// callOf returns the piece of a call in a chunk, or nil.
func callOf(o object) (call object) {
	_, delta := chunkChoice(o)
	if list, _ := delta["tool_calls"].([]any); len(list) > 0 {
		call, _ = list[0].(object)
	}
	return call
}

func chatArguments(o object) (object, string) { return member(callOf(o), "function"), "arguments" }

func chatRank(o object) int {
	if callOf(o) != nil {
		return 1
	}
	return 0
}

// chatWhole is the answer as a server sends it that does not stream.
func chatWhole(list events) events {
	var calls []any
	message, whole := object{"role": "assistant"}, object{}
	reason := any(nil)
	edit(func(o object) bool {
		choice, delta := chunkChoice(o)
		for _, name := range []string{"content", "reasoning_content"} {
			if text := textIn(delta, name); text != "" {
				message[name] = textIn(message, name) + text
			}
		}
		if call := callOf(o); call != nil {
			calls = append(calls, call)
		}
		if choice["finish_reason"] != nil {
			reason = choice["finish_reason"]
		}
		for _, name := range []string{"id", "created", "model", "usage"} {
			if o[name] != nil {
				whole[name] = o[name]
			}
		}
		return true
	})(chatWholeCalls(slices.Clone(list)))
	message["tool_calls"] = calls
	whole["object"], whole["choices"] = "chat.completion", []any{object{"index": 0, "message": message, "finish_reason": reason}}
	return events{{Data: encoded(whole)}}
}
