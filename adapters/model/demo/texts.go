package demo

// texts are the texts in one language. Some take a quote or number in %s or %d.
type texts struct {
	hello, long, slow, noTool, done, you string
	echo, looking, result, seen, files   string
	asking, note, waits, failed          string
}

func english() texts {
	return texts{
		you: "friend",
		hello: "Hello! I am the built-in **demo model**: no key, no network, always the same answer. " +
			"Try “show streaming”, “use a tool”, “ask first” or “slow answer”.",
		long: `This text arrives in small pieces, the way a real model writes.

1. **Every piece** is shown as soon as it is there, and the whole text is stored once it is complete.
2. If you reload the page now, the answer goes on where it is, because the run does not belong to the page.
3. A message that you send while I write never cuts me off. It waits, and I read it at the next step.

| what | where |
|---|---|
| your words | the history of this chat, unchanged |
| my words | the same history, part by part |

` + "```go\nfor event := range model.Stream(ctx, request) {\n\tshow(event)\n}\n```" + `

That was the whole of it. A real model would have had more to say.`,
		slow: "I am writing this one slowly, so that you have the time to send me a second message while I am still at it. " +
			"Go on, type something. I will not be interrupted, and I will not forget you either: when I am through, I look at what came in.",
		noTool:  "No tool is offered in this chat, so I cannot show one.",
		done:    "Done.",
		echo:    "You wrote: “%s”.\n\nI am only the **demo model** and cannot do more with it. To talk to a real one, set `OPENAI_API_KEY` (or `llm.apiKey` in `ship.json`) and start again with `sma run`.",
		looking: "Let me use a tool for that: `%s`.",
		result:  "The tool `%s` answered: %s",
		seen:    "Hello **%s**, I see your message: “%s”",
		files:   "(with %d file(s))",
		asking:  "I would like to write a note with `%s`. That changes a file, so I ask you first: nothing happens until you decide, and you can go on writing meanwhile.",
		note:    "A person approved this note in the demo.",
		waits:   "The tool `%s` still waits for your decision.",
		failed:  "The tool `%s` did nothing: %s",
	}
}

func chinese() texts {
	return texts{
		you: "朋友",
		hello: "你好！我是内置的**演示模型**：不需要密钥，不需要网络，回答总是一样。" +
			"可以试试“流式演示”、“使用工具”、“先问我”或“慢慢回答”。",
		long: `这段文字会一小块一小块地到达，就像真正的模型在书写一样。

1. **每一块**到达后立即显示，全文写完后一次保存。
2. 现在刷新页面，回答会接着继续，因为运行并不属于页面。
3. 我书写时你发来的消息不会打断我，它会排队等待，在下一步被一起读到。

| 内容 | 位置 |
|---|---|
| 你说的话 | 原样保存在这个聊天的历史里 |
| 我说的话 | 逐段保存在同一份历史里 |

` + "```go\nfor event := range model.Stream(ctx, request) {\n\tshow(event)\n}\n```" + `

演示到此结束。真正的模型会有更多话要说。`,
		slow: "这一段我会慢慢写，好让你有时间在我写完之前再发一条消息。" +
			"请随便发点什么吧。我不会被打断，也不会忘记你：写完之后，我会看看新来了什么。",
		noTool:  "这个聊天里没有可用的工具，所以没法演示。",
		done:    "完成。",
		echo:    "你写的是：“%s”。\n\n我只是**演示模型**，没法做更多。想和真正的模型对话，请设置 `OPENAI_API_KEY`（或 `ship.json` 里的 `llm.apiKey`），然后重新运行 `sma run`。",
		looking: "我来用一个工具：`%s`。",
		result:  "工具 `%s` 的回答：%s",
		seen:    "**%s**，你好，我看到了你的消息：“%s”",
		files:   "（附 %d 个文件）",
		asking:  "我想用 `%s` 写一条笔记。这会改动文件，所以先问你：在你决定之前什么都不会发生，你也可以继续发消息。",
		note:    "这条笔记在演示中得到了批准。",
		waits:   "工具 `%s` 还在等你决定。",
		failed:  "工具 `%s` 没有执行：%s",
	}
}
