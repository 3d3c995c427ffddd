package notices

import (
	"fmt"
	"strconv"
)

// MaxOutput is the longest output that people are sent, in bytes.
const MaxOutput = 4 << 20

// OutputUsage explains the command that requests the output of a tool.
func OutputUsage(at string) Text {
	return Text{
		"Send /output" + at + " for the whole output of the last tool that I used, or /output" + at + " 2 for the one before it.",
		"发送 /output" + at + " 查看最近一次使用工具的完整输出，发送 /output" + at + " 2 查看再前一次的。",
	}
}

// NoOutput answers when there is no such tool output, to /output.
func NoOutput(at string) Text {
	return Text{
		"This conversation has no such tool output. /output" + at + " sends that of the last tool that I used, /output" + at + " 2 that of the one before it.",
		"这段对话里没有这样的工具输出。/output" + at + " 发送最近一次使用工具的输出，/output" + at + " 2 发送再前一次的。",
	}
}

// OutputGone answers when the output of a tool cannot be read.
func OutputGone(tool string) Text {
	return Text{"The output of " + tool + " cannot be read any more. Ask me to do it again.", tool + " 的输出已经读不到了，可以让我重新执行一次。"}
}

// OutputEmpty answers when a tool printed nothing.
func OutputEmpty(tool string) Text {
	return Text{tool + " printed nothing.", tool + " 没有输出。"}
}

// OutputLong answers when the output of a tool is longer than [MaxOutput].
func OutputLong(tool string, size int64) Text {
	return Text{
		fmt.Sprintf("The output of %s has %d bytes; at most %d can be sent. Ask me for the part that you need.", tool, size, MaxOutput),
		fmt.Sprintf("%s 的输出有 %d 字节，最多只能发送 %d 字节。请告诉我需要哪一部分。", tool, size, MaxOutput),
	}
}

// OutputBusy answers while too many outputs are being sent.
func OutputBusy() Text {
	return Text{"Earlier outputs are still being sent. Ask again when they have arrived.", "之前的输出还在发送中，请稍后再试。"}
}

// Output is the title of an output with the given size in bytes.
func Output(tool string, size int) Text {
	return Text{fmt.Sprintf("Output of %s, %d bytes:", tool, size), fmt.Sprintf("%s 的输出，共 %d 字节：", tool, size)}
}

// OutputPage says which page of an output is shown and how to see the next one.
func OutputPage(back, page, pages int, at string) Text {
	if page == pages {
		return Text{fmt.Sprintf("(page %d of %d)", page, pages), fmt.Sprintf("（第 %d 页，共 %d 页）", page, pages)}
	}
	next := fmt.Sprintf("/output"+at+" %d %d", back, page+1)
	return Text{fmt.Sprintf("(page %d of %d; %s shows the next one)", page, pages, next), fmt.Sprintf("（第 %d 页，共 %d 页；发送 %s 查看下一页）", page, pages, next)}
}

// OutputPages answers when a page does not exist.
func OutputPages(tool string, pages int) Text {
	return Text{fmt.Sprintf("The output of %s has %d pages.", tool, pages), fmt.Sprintf("%s 的输出共有 %d 页。", tool, pages)}
}

// MorePages says how much of a long text was shown, in percent, and how to read on.
func MorePages(percent int) Text {
	n := strconv.Itoa(percent)
	return Text{
		"(" + n + " % shown. Reply \"continue\" for more, \"full output\" for the rest.)",
		"（已显示 " + n + "%。回复“继续”查看下一页，“发完整输出”查看全部。）",
	}
}
