package loop_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
)

// chatSaid is what the first choice says: reasoning, text or a refusal, and calls with their
// signatures.
func chatSaid(objects []object) []string {
	all := object{}
	join := func(name, text string) { all[name] = in[string](all, name) + text }
	var calls []object
	for _, o := range objects {
		each(o, "choices", func(choice object) {
			if index, _ := choice["index"].(float64); index != 0 {
				return
			}
			said := in[object](choice, "delta")
			if said == nil {
				said = in[object](choice, "message")
			}
			join("content", in[string](said, "content")+in[string](said, "refusal"))
			join("reasoning_content", in[string](said, "reasoning_content"))
			each(said, "tool_calls", func(call object) {
				if id := in[string](call, "id"); id != "" {
					calls = append(calls, object{"id": id, "function": object{}, "extra_content": call["extra_content"]})
				}
				f := in[object](calls[len(calls)-1], "function")
				f["name"] = in[string](f, "name") + in[string](call, "function", "name")
				f["arguments"] = in[string](f, "arguments") + in[string](call, "function", "arguments")
			})
		})
	}
	return chatMessage(all, calls)
}

func chatMessage(m object, calls []object) (list []string) {
	for _, name := range []string{"reasoning_content", "content"} {
		if text := in[string](m, name); text != "" {
			list = append(list, name+" "+text)
		}
	}
	for _, c := range calls {
		list = append(list, fmt.Sprintf("call %s %s %s %s", in[string](c, "id"), in[string](c, "function", "name"), compact(in[string](c, "function", "arguments")),
			in[string](c, "extra_content", "google", "thought_signature")))
	}
	return list
}

func chatRepeated(body object) (list []string) {
	each(body, "messages", func(m object) {
		if m["role"] == "assistant" {
			var calls []object
			each(m, "tool_calls", func(c object) { calls = append(calls, c) })
			list = append(list, chatMessage(m, calls)...)
		}
	})
	return list
}

func messagesSaid(objects []object) (list []string) {
	blocks := map[any]object{}
	var order []any
	begin := func(index any, block object) {
		blocks[index] = block
		order = append(order, index)
	}
	for _, o := range objects {
		switch o["type"] {
		case "message":
			for i, v := range in[[]any](o, "content") {
				block, _ := v.(object)
				begin(i, block)
			}
		case "content_block_start":
			begin(o["index"], in[object](o, "content_block"))
		case "content_block_delta":
			b := blocks[o["index"]]
			for _, name := range []string{"text", "thinking", "signature", "partial_json"} {
				if text := in[string](o, "delta", name); text != "" {
					b[name] = in[string](b, name) + text
				}
			}
		}
	}
	for _, index := range order {
		list = append(list, messagesBlock(blocks[index])...)
	}
	return list
}

// messagesBlock is what a block says that can be sent back.
func messagesBlock(b object) []string {
	text := func(name string) string { return in[string](b, name) }
	switch b["type"] {
	case "text":
		if strings.TrimSpace(text("text")) != "" {
			return []string{"text " + text("text")}
		}
	case "thinking":
		return []string{"thinking " + text("thinking") + " " + text("signature")}
	case "redacted_thinking":
		return []string{"redacted " + text("data")}
	case "tool_use":
		input, _ := json.Marshal(b["input"]) // it was decoded
		if pieces := text("partial_json"); pieces != "" {
			input, _ = json.Marshal(decoded([]byte(pieces)))
		}
		return []string{"call " + text("id") + " " + text("name") + " " + string(input)}
	}
	return nil
}

func messagesRepeated(body object) (list []string) {
	each(body, "messages", func(m object) {
		if m["role"] == "assistant" {
			each(m, "content", func(b object) { list = append(list, messagesBlock(b)...) })
		}
	})
	return list
}

// responsesSaid is what the items of the last object say.
func responsesSaid(objects []object) (list []string) {
	whole := objects[len(objects)-1]
	if r := in[object](whole, "response"); r != nil {
		whole = r
	}
	each(whole, "output", func(item object) { list = append(list, responsesItem(item)...) })
	return list
}

// responsesItem is what an item says that can be sent back. Reasoning without encrypted content cannot.
func responsesItem(item object) []string {
	var text string
	each(item, "content", func(part object) { text += in[string](part, "text") + in[string](part, "refusal") })
	switch {
	case item["type"] == "function_call":
		return []string{"call " + in[string](item, "call_id") + " " + in[string](item, "name") + " " + compact(in[string](item, "arguments"))}
	case item["type"] == "reasoning" && item["encrypted_content"] != nil:
		list := []string{"reasoning " + in[string](item, "id") + " " + in[string](item, "encrypted_content")}
		each(item, "summary", func(part object) { list = append(list, "summary "+in[string](part, "text")) })
		return list
	case cmp.Or(in[string](item, "type"), "message") == "message" && text != "":
		return []string{"text " + text + " " + in[string](item, "phase")}
	}
	return nil
}

func responsesRepeated(body object) (list []string) {
	each(body, "input", func(item object) {
		if role := item["role"]; role == nil || role == "assistant" {
			list = append(list, responsesItem(item)...)
		}
	})
	return list
}
