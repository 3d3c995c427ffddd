package longtext

import "strings"

// Wish is what people say about pages.
type Wish string

// What people may want: nothing of the kind, the next page, or all that is left.
const (
	None Wish = ""
	Next Wish = "next"
	All  Wish = "all"
)

// WishOf reads a whole message; what is more than a phrase is none.
func WishOf(text string) Wish {
	text = strings.TrimSpace(text)
	if len(text) > 128 {
		return None
	}
	if strings.HasPrefix(text, "@") { // in a group the bot is named
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
