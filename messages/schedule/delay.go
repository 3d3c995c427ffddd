package schedule

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// MaxDelay is the longest time until a single time.
const MaxDelay = 5 * 366 * 24 * time.Hour

// ParseDelay reads a duration from now, such as 20m, 1h30m, 2d, "half an hour", "20 minutes", 半小时 or 二十分钟后. It
// reads the whole text or nothing. The result is at least a second and at most MaxDelay.
func ParseDelay(text string) (time.Duration, error) {
	bad := fmt.Errorf("%w: %q is not a delay; write one like 20m, 1h30m, 2d, 20 minutes or 二十分钟, of at most five years", ErrSchedule, shorten(text))
	part := regexp.MustCompile(delayPart)
	rest := fromNow(simplified.Replace(strings.ToLower(strings.TrimSpace(text))))
	var total time.Duration
	for rest != "" {
		found := part.FindStringSubmatch(rest)
		if found == nil {
			return 0, bad
		}
		amount, ok := amountOf(found[1])
		if found[2] != "" || found[4] != "" {
			amount += 0.5
		}
		d := amount * float64(unitOf(found[3]))
		if !ok || d > float64(MaxDelay) {
			return 0, bad
		}
		if total += time.Duration(math.Round(d)); total > MaxDelay {
			return 0, bad
		}
		rest = rest[len(found[0]):]
	}
	if total < time.Second {
		return 0, bad
	}
	return total, nil
}

// delayPart is one amount and its unit. Either may be followed by a half: two and a half hours, an hour and a half,
// 两个半小时, 一小时半.
const delayPart = `^[ ,，]*(?:and )?([0-9]{1,9}(?:\.[0-9]{1,2})?|half an?|half|[a-z]+|[零〇一二两三四五六七八九十]{1,3}|半)(?: ?个)?( and a half|半)? ?` +
	`(seconds?|secs?|秒钟?|minutes?|mins?|分钟?|hours?|hrs?|小时|钟头|days?|天|weeks?|周|星期|礼拜|[smhdw])( and a half|半)?`

// fromNow removes the words that say that a duration is one from now.
func fromNow(text string) string {
	for _, before := range []string{"in ", "after ", "过"} {
		text = strings.TrimPrefix(text, before)
	}
	for _, after := range []string{" from now", " later", "之后", "以后", "后"} {
		text = strings.TrimSuffix(text, after)
	}
	return strings.TrimSpace(text)
}

// amountOf reads an amount in digits or words.
func amountOf(text string) (float64, bool) {
	switch text {
	case "a", "an":
		return 1, true
	case "half", "half a", "half an", "半":
		return 0.5, true
	}
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		return n, true
	}
	if n, ok := englishNumbers()[text]; ok {
		return n, true
	}
	n, ok := number(text)
	return float64(n), ok
}

func englishNumbers() map[string]float64 {
	return map[string]float64{
		"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
		"fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "ninety": 90,
	}
}

// unitOf returns the length of a unit that delayPart matched.
func unitOf(text string) time.Duration {
	switch []rune(text)[0] {
	case 's', '秒':
		return time.Second
	case 'm', '分':
		return time.Minute
	case 'h', '小', '钟':
		return time.Hour
	case 'd', '天':
		return 24 * time.Hour
	}
	return 7 * 24 * time.Hour
}
