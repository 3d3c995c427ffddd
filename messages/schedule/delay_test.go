package schedule

import (
	"errors"
	"testing"
	"time"
)

func TestParseDelay(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"20m": 20 * time.Minute, "1h30m": 90 * time.Minute, "2d": 2 * day, "1d 6h": 30 * time.Hour, "90s": 90 * time.Second, "1.5h": 90 * time.Minute, "1w": 7 * day,
		"20 minutes": 20 * time.Minute, "in 20 min": 20 * time.Minute, "In 2 Hours": 2 * time.Hour, "an hour": time.Hour, "one hour from now": time.Hour,
		"half an hour": 30 * time.Minute, "half a day": 12 * time.Hour, "an hour and a half": 90 * time.Minute, "two and a half hours": 150 * time.Minute,
		"1 hour and 5 minutes": 65 * time.Minute, "1 hour, 5 minutes later": 65 * time.Minute, "a week": 7 * day, "twenty seconds": 20 * time.Second,
		"二十分钟": 20 * time.Minute, "20分钟后": 20 * time.Minute, "20 分钟之后": 20 * time.Minute, "半小时": 30 * time.Minute, "半个小时以后": 30 * time.Minute,
		"两小时": 2 * time.Hour, "兩個小時": 2 * time.Hour, "一个半小时": 90 * time.Minute, "一小时半": 90 * time.Minute, "一小时二十分": 80 * time.Minute,
		"三天": 3 * day, "过一个星期": 7 * day, "十秒": 10 * time.Second, "半天": 12 * time.Hour, "两个钟头": 2 * time.Hour, "20分鐘後": 20 * time.Minute, "過兩個小時": 2 * time.Hour,
	} {
		if got, err := ParseDelay(text); err != nil || got != want {
			t.Errorf("ParseDelay(%q) = %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "-5m", "5", "0s", "9999d", "999999999h", "999999999w", "m", "1e9s", "soon", "two months", "一个月", "20 minutes to nine", "half", "明天", "tomorrow", "5 5m", "0.5s", "in", "后", "几分钟",
	} {
		if got, err := ParseDelay(text); !errors.Is(err, ErrSchedule) {
			t.Errorf("ParseDelay(%q) = %v, %v; want an error", text, got, err)
		}
	}
}

func FuzzParseDelay(f *testing.F) {
	for _, seed := range []string{"1h30m", "in 20 minutes", "half an hour", "两个半小时后", "an hour and a half", "1.5h", "999999999w", "5 5m"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := ParseDelay(text)
		switch {
		case err != nil && !errors.Is(err, ErrSchedule):
			t.Errorf("%v is no %v", err, ErrSchedule)
		case err == nil && (d < time.Second || d > MaxDelay):
			t.Errorf("ParseDelay(%q) = %v", text, d)
		}
	})
}
