package telegramtest

import (
	"fmt"
	"math"
	"net/http"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/faketest"
)

// limiter answers 429 as the service does.
type limiter struct {
	rates platform.Rates
	sent  map[int64][]time.Time
	all   []time.Time
	until map[int64]time.Time // when the requested wait ends
	early int
}

// told records a wait that a fault asked for.
func (l *limiter) told(chat int64, seconds int) {
	l.until[chat] = time.Now().Add(time.Duration(seconds) * time.Second)
}

// before records an attempt, regardless of its outcome.
func (l *limiter) before(chat int64) {
	if time.Now().Before(l.until[chat]) {
		l.early++
	}
}

// take counts a message, or refuses it.
func (l *limiter) take(chat int64, private bool) *refused {
	now := time.Now()
	mine := l.sent[chat]
	perChat := l.rates.PerChat
	if n := l.rates.Burst; private && n > 1 {
		perChat = platform.Rate{N: n * perChat.N, Per: time.Duration(n) * perChat.Per}
	}
	wait := max(over(mine, perChat, now), over(l.all, l.rates.PerSender, now))
	if !private {
		wait = max(wait, over(mine, l.rates.PerGroup, now))
	}
	if wait > 0 {
		seconds := int(math.Ceil(wait.Seconds()))
		l.told(chat, seconds)
		return &refused{code: http.StatusTooManyRequests, text: fmt.Sprint("Too Many Requests: retry after ", seconds), retry: seconds}
	}
	l.sent[chat], l.all = append(mine, now), append(l.all, now)
	return nil
}

// over returns how long the next event must wait because of a rate.
func over(at []time.Time, r platform.Rate, now time.Time) time.Duration {
	if r.N <= 0 || len(at) < r.N {
		return 0
	}
	return max(0, r.Per-now.Sub(at[len(at)-r.N]))
}

// Limit makes the fake refuse sends and edits that exceed the rates. PerChat with Burst applies to private chats, PerChat
// without Burst and PerGroup to all others. A send before the end of a requested wait is counted as early.
func (a *API) Limit(r platform.Rates) {
	a.mu.Do(func() { a.limits = &limiter{rates: r, sent: map[int64][]time.Time{}, until: map[int64]time.Time{}} })
}

// Early is the number of sends since [API.Limit] that came before the end of the wait requested for their chat.
func (a *API) Early() int {
	return faketest.Get(&a.mu, func() int { return a.limits.early })
}
