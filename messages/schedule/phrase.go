package schedule

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Phrase reads a time of the day and the days of the week on which it repeats, in plain English or Chinese, like "every
// weekday at 9" or 每个工作日九点, and returns its cron schedule. It reads the whole text or nothing, and returns false for
// everything else, which people and models write as cron schedules. An hour without am, pm or a part of the day is one
// of the 24-hour clock.
func Phrase(text string) (cron string, ok bool) {
	if len(text) > maxText {
		return "", false
	}
	text = simplified.Replace(digits(strings.ToLower(strings.Join(strings.Fields(text), " "))))
	for _, form := range []string{
		`^(?:every |each |on )?` + englishDays + `,?(?: at)? ` + englishTime + `$`,
		`^(?:at )?` + englishTime + `,?(?: every| each| on)? ` + englishDays + `$`,
		`^(?:每个?|每逢|在)?` + chineseDays + `的? ?` + chineseTime + `$`,
	} {
		is := regexp.MustCompile(form)
		m := is.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		said := func(name string) string { return m[is.SubexpIndex(name)] }
		half := map[string]string{"半": "30"}[said("half")]
		time, ok := timeOf(said("hour"), cmp.Or(half, said("minute"), "0"), said("part"))
		return time + " * * " + daysOf(said("days")), ok && (half == "" || said("minute") == "")
	}
	return "", false
}

const (
	weekday     = `(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:days?)?`
	englishDays = `(?P<days>day|daily|weekdays?|work(?:ing)? ?days?|weekends?|` + weekday + `(?:(?:, and |, ?| and | to |-)` + weekday + `)*)`
	englishTime = `(?P<hour>[0-9]{1,2})(?::(?P<minute>[0-9]{2}))?(?: ?(?P<part>a\.?m\.?|p\.?m\.?|in the (?:morning|afternoon|evening)))?(?P<half>)`
	xingqi      = `(?:周|星期|礼拜)`
	chineseDays = `(?P<days>天|日|(?:个|周)?工作日|周末|` + xingqi + `[一二三四五六日天](?:[、,，和到至-]?` + xingqi + `?[一二三四五六日天])*?)`
	hourForm    = `(?P<hour>[0-9]{1,2}|[一二]?十[一二三四五六七八九]?|[零〇一二两三四五六七八九])`
	minuteForm  = `(?P<minute>[0-9]{1,2}|[一二三四五]?十[一二三四五六七八九]?|[零〇]?[零〇一二两三四五六七八九])`
	chineseTime = `(?P<part>凌晨|早上|早晨|清晨|上午|中午|下午|傍晚|晚上)? ?` + hourForm +
		`(?: ?[点时][整钟]?|[:：])(?P<half>半)? ?` + minuteForm + `? ?分?`
)

// simplified writes the characters of times as they are written on the mainland.
var simplified = strings.NewReplacer("週", "周", "點", "点", "個", "个", "鐘", "钟", "號", "号", "時", "时", "兩", "两", "禮", "礼", "裡", "里", "與", "与", "後", "后", "過", "过") //nolint:gochecknoglobals // constant

// digits writes the numbers of English words as digits.
func digits(text string) string {
	words := strings.Fields("one two three four five six seven eight nine ten eleven twelve")
	return regexp.MustCompile(`\b(?:`+strings.Join(words, "|")+`)\b`).ReplaceAllStringFunc(text, func(word string) string {
		return strconv.Itoa(slices.Index(words, word) + 1)
	})
}

// daysOf is the fifth field of a cron schedule for days that Phrase matched.
func daysOf(text string) string {
	switch {
	case text == "day", text == "daily", text == "天", text == "日":
		return "*"
	case strings.HasPrefix(text, "week"), strings.HasPrefix(text, "work"), strings.HasSuffix(text, "工作日"), text == "周末":
		if strings.HasPrefix(text, "weekend") || text == "周末" {
			return "0,6"
		}
		return "1-5"
	}
	on := [7]bool{}
	last, until := 0, false
	for _, m := range regexp.MustCompile(` to |-|到|至|`+weekday+`|[一二三四五六日天]`).FindAllString(strings.NewReplacer("星期", "周", "礼拜", "周").Replace(text), -1) {
		day := dayOf(m)
		switch {
		case day < 0:
			until = true
			continue
		case !until:
			last = day
		}
		for on[last] = true; last != day; on[last] = true {
			last = (last + 1) % 7
		}
		until = false
	}
	var days []string
	for day, is := range on {
		if is {
			days = append(days, strconv.Itoa(day))
		}
	}
	if n := len(days); n > 2 && int(days[n-1][0]-days[0][0]) == n-1 {
		return days[0] + "-" + days[n-1]
	}
	return strings.Join(days, ",")
}

// dayOf is the number of a day of the week, or -1.
func dayOf(name string) int {
	if name == "天" {
		return 0
	}
	if day := slices.Index([]rune("日一二三四五六"), []rune(name)[0]); day >= 0 || len(name) < 3 {
		return day
	}
	return slices.Index([]string{"su", "mo", "tu", "we", "th", "fr", "sa"}, name[:2])
}

// timeOf is the minute and the hour of a cron schedule. part is am or pm, or a part of the day.
func timeOf(hour, minute, part string) (string, bool) {
	h, ok := number(hour)
	m, fine := number(minute)
	ok = ok && fine
	switch part {
	case "":
	case "中午":
		ok = ok && (h >= 11 && h <= 13 || h == 1 || h == 2)
		if h < 11 {
			h += 12
		}
	case "下午", "傍晚", "晚上", "in the afternoon", "in the evening", "pm", "p.m", "pm.", "p.m.":
		noon := part[0] == 'p' || part == "下午" || part == "in the afternoon"
		ok = ok && h >= 1 && (noon || h >= 4 && h != 12) // midnight and after it, but of which day?
		if h < 12 {
			h += 12
		}
	default: // the morning
		ok = ok && h <= 12 && (h != 12 || part[0] == 'a' || part == "凌晨" || part == "上午")
		if h == 12 && part != "上午" {
			h = 0
		}
	}
	return fmt.Sprintf("%d %d", m, h), ok && h <= 23 && m <= 59
}

// number reads digits, or Chinese numerals up to ninety-nine.
func number(text string) (int, bool) {
	if n, err := strconv.Atoi(text); err == nil {
		return n, true
	}
	digit := func(r rune) (int, bool) {
		switch r {
		case '〇':
			r = '零'
		case '两':
			r = '二'
		}
		i := slices.Index([]rune("零一二三四五六七八九"), r)
		return i, i >= 0
	}
	before, after, tens := strings.Cut(text, "十")
	if !tens {
		before, after = "", strings.TrimPrefix(text, "零") // as in 九点零五分
		if after == "" {
			after = text
		}
	}
	n := 0
	if tens {
		n = 10
		if before != "" {
			d, ok := digit([]rune(before)[0])
			if !ok || d == 0 || len([]rune(before)) > 1 {
				return 0, false
			}
			n = 10 * d
		}
	}
	if after != "" {
		d, ok := digit([]rune(after)[0])
		if !ok || len([]rune(after)) > 1 {
			return 0, false
		}
		n += d
	}
	return n, text != ""
}
