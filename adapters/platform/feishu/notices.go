package feishu

import (
	"strings"
	"sync"
	"time"
)

// words are what people read, in one language.
type words struct {
	notPaired    string // with the code
	ownerNow     string
	approvedNow  string
	badCode      string
	tooMany      string
	groupClosed  string
	groupAllowed string
	ownerOnly    string
	approved     string // with the person's name

	// Of buttons.
	approveButton, denyButton, approvedToast, deniedToast, alreadyDecided, expiredRequest, mayNotDecide, unknownRequest, laterAgain string
}

// wordsFor picks the language of a service: events do not tell a person's. Feishu is
// used in China, Lark elsewhere.
func wordsFor(host string) words {
	if !strings.Contains(host, "larksuite") {
		return words{
			notPaired:    "你好！这个机器人只为已配对的人服务。请把配对码 {} 发给它的主人，一小时内有效。",
			ownerNow:     "配对成功，你现在是这个机器人的主人。直接发消息就可以了。",
			approvedNow:  "配对成功，直接发消息就可以了。",
			badCode:      "这个配对码无效，或者已经用过、过期了。请重新获取一个。",
			tooMany:      "配对码尝试次数过多，请一小时后再试。",
			groupClosed:  "这个群还没有开放。请主人在这里 @ 我，或者发送 /allow。",
			groupAllowed: "这个群现在可以使用我了。",
			ownerOnly:    "只有主人可以这样做。",
			approved:     "{} 现在可以使用我了。",

			approveButton: "同意", denyButton: "拒绝", approvedToast: "已同意。", deniedToast: "已拒绝。", alreadyDecided: "这个请求已经有结果了。", expiredRequest: "这个请求已失效，没有执行任何操作。",
			mayNotDecide: "你无权审批这个请求。", unknownRequest: "找不到这个请求。", laterAgain: "现在无法处理，请稍后再点一次。",
		}
	}
	return words{
		notPaired:    "Hello! This bot only talks to people it is paired with. Please send its owner this code: {} (good for one hour).",
		ownerNow:     "Paired: you are the owner of this bot now. Just write to me.",
		approvedNow:  "Paired: just write to me.",
		badCode:      "This code is not valid: it may be mistyped, spent or expired. Please get a new one.",
		tooMany:      "Too many codes were tried. Please try again in an hour.",
		groupClosed:  "This group is not allowed yet. Its owner can mention me here or send /allow.",
		groupAllowed: "This group may use me now.",
		ownerOnly:    "Only the owner can do that.",
		approved:     "{} may use me now.",

		approveButton: "Approve", denyButton: "Deny", approvedToast: "Approved.", deniedToast: "Denied.", alreadyDecided: "This was decided already.",
		expiredRequest: "This request has expired. Nothing was done.", mayNotDecide: "You may not decide about this.",
		unknownRequest: "I do not know this request.", laterAgain: "I cannot take this now. Please press again in a moment.",
	}
}

func fill(text, value string) string { return strings.Replace(text, "{}", value, 1) }

// hourly lets something through once an hour per key. It is safe for concurrent use.
type hourly struct {
	mu   sync.Mutex
	last map[string]time.Time
	now  func() time.Time
}

const maxHourly = 10_000

func newHourly(now func() time.Time) *hourly {
	return &hourly{last: map[string]time.Time{}, now: now}
}

func (h *hourly) pass(key string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.now()
	if t, ok := h.last[key]; ok && now.Sub(t) < time.Hour && !now.Before(t) {
		return false
	}
	if len(h.last) >= maxHourly {
		clear(h.last)
	}
	h.last[key] = now
	return true
}

// recent knows things of messages, of the newest only. It is safe for concurrent use.
type recent struct {
	mu    sync.Mutex
	known map[string]bool
	order []string // a ring
	next  int
}

func newRecent(n int) *recent { return &recent{known: map[string]bool{}, order: make([]string, n)} }

func (r *recent) add(id string, is bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.known[id]; !ok {
		delete(r.known, r.order[r.next])
		r.order[r.next] = id
		r.next = (r.next + 1) % len(r.order)
	}
	r.known[id] = is
}

func (r *recent) get(id string) (is, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	is, ok = r.known[id]
	return is, ok
}
