package longtext

import "strings"

// PageRequest is a person's request for pages.
type PageRequest string

// The possible wishes: none, the next page, or everything that is left.
const (
	None PageRequest = ""
	Next PageRequest = "next"
	All  PageRequest = "all"
)

// PageRequestOf interprets a whole message. It returns None for a message that says more than such a phrase.
func PageRequestOf(text string) PageRequest {
	text = strings.TrimSpace(text)
	if len(text) > 128 {
		return None
	}
	if strings.HasPrefix(text, "@") { // in a group the message names the bot
		if _, rest, ok := strings.Cut(text, " "); ok {
			text = rest
		}
	} else if i := strings.LastIndex(text, " @"); i > 0 && !strings.Contains(text[i+2:], " ") {
		text = text[:i]
	}
	switch strings.ToLower(strings.TrimRight(strings.TrimSpace(text), ".。!！")) {
	case "继续", "下一页", "展开", "continue", "next":
		return Next
	case "发完整输出", "full output":
		return All
	}
	return None
}
