package schedule

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Phrase reads a regular time in plain English or Chinese, like "every weekday at 9" or
// 每个工作日九点, and returns its cron schedule. It reads the whole text or nothing: it
// returns false if some words are unknown, or if no cron schedule means the same. An hour
// without am, pm or a part of the day is one of the 24-hour clock.
func Phrase(text string) (cron string, ok bool) {
	if len(text) > maxText {
		return "", false
	}
	text = simplified.Replace(digits(strings.ToLower(strings.Join(strings.Fields(text), " "))))
	p := phrase{rest: spaced.ReplaceAllString(text, "$1$2")}
	for p.skip(); p.rest != ""; p.skip() {
		if !p.word() {
			return "", false
		}
	}
	return p.cron()
}

// simplified writes the characters of times as they are written on the mainland.
var simplified = strings.NewReplacer("週", "周", "點", "点", "個", "个", "鐘", "钟", "號", "号", "時", "时", "兩", "两", "禮", "礼", "裡", "里", "與", "与", "後", "后", "過", "过") //nolint:gochecknoglobals // constant

var spelled = regexp.MustCompile(`\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b`)

// spaced are a number and its unit with spaces around them, as in 早上 9 点 05 分.
var spaced = regexp.MustCompile(` ?([0-9]{1,2}) ([点时分])`)

// digits writes the numbers of English words as digits.
func digits(text string) string {
	return spelled.ReplaceAllStringFunc(text, func(word string) string {
		n := slices.Index(strings.Fields("one two three four five six seven eight nine ten eleven twelve"), word)
		return strconv.Itoa(n + 1)
	})
}

// phrase is a text that is being read, and its meaning so far.
type phrase struct {
	rest string

	days    []int // of the week
	dom     int   // day of the month, or 0
	daily   bool
	monthly bool
	hours   []int
	minute  int // of the hours
	step    int // every so many minutes or hours, or 0
	hourly  bool
	bad     bool

	every bool // the next term follows "every"
	// turns counts how often days follow times or times days, and timed says that times came last.
	turns int
	timed bool
	// plain says that an hour is one of the 24-hour clock, and late that another one is counted from noon.
	plain, late bool
}

// fillers are words that say nothing about the time.
var fillers = regexp.MustCompile(`^(?:every|each|on|at|the|and|of|o'clock|week|in the|[ ,.，、。的]|每个|每逢|每隔|每|在|和|与|都)`)

func (p *phrase) skip() {
	p.every = false
	for {
		found := fillers.FindString(p.rest)
		if found == "" || isLetter(found) && !endsWord(p.rest[len(found):]) {
			return
		}
		if found != " " {
			p.every = found == "every" || found == "each" || strings.HasPrefix(found, "每")
		}
		p.rest = p.rest[len(found):]
	}
}

// isLetter reports whether a word is an English one.
func isLetter(word string) bool { return word[0] >= 'a' && word[0] <= 'z' }

// endsWord reports whether an English word ends where rest begins.
func endsWord(rest string) bool {
	return rest == "" || (rest[0] < 'a' || rest[0] > 'z') && (rest[0] < '0' || rest[0] > '9')
}

// term is one element of a phrase, and what it means.
type term struct {
	is  *regexp.Regexp
	say func(p *phrase, m []string)
}

const (
	numeral  = `([0-9]{1,2}|[零〇一二两三四五六七八九十]{1,3})`
	weekday  = `(mon(?:days?)?|tues?(?:days?)?|wed(?:nesdays?)?|thu(?:rs(?:days?)?)?|fri(?:days?)?|sat(?:urdays?)?|sun(?:days?)?)`
	xingqi   = `(?:周|星期|礼拜)([一二三四五六日天])`
	partsDay = `(凌晨|早上|早晨|清晨|上午|中午|下午|傍晚|晚上|夜里)?`
)

// terms are in the order in which they are tried, longer ones first. They are compiled when the first phrase is read.
var terms = sync.OnceValue(func() []term { //nolint:gochecknoglobals // constant
	return []term{
		{re(weekday + ` ?(?:-|–|to|through|until) ?` + weekday), func(p *phrase, m []string) { p.span(englishDay(m[1]), englishDay(m[2])) }},
		{re(`(?:周|星期|礼拜)([一二三四五六日天]) ?(?:到|至|-|~) ?(?:周|星期|礼拜)?([一二三四五六日天])`), func(p *phrase, m []string) { p.span(chineseDay(m[1]), chineseDay(m[2])) }},
		{re(`(?:weekdays?|work(?:ing)? ?days?|business days?)`), func(p *phrase, _ []string) { p.span(1, 5) }},
		{re(`周?工作日`), func(p *phrase, _ []string) { p.span(1, 5) }},
		{re(`weekends?`), func(p *phrase, _ []string) { p.day(6, 0) }},
		{re(`周末`), func(p *phrase, _ []string) { p.day(6, 0) }},
		{re(weekday), func(p *phrase, m []string) { p.day(englishDay(m[1])) }},
		{re(xingqi + `((?:[、,，和] ?[一二三四五六日天])*)`), func(p *phrase, m []string) {
			for _, day := range strings.FieldsFunc(m[1]+m[2], func(r rune) bool { return strings.ContainsRune("、,，和 ", r) }) {
				p.day(chineseDay(day))
			}
			p.moreDays()
		}},
		{re(`(?:month(?:ly)?|月) ?(?:on )?(?:the )?(?:day )?` + numeral + `(?:st|nd|rd|th)?(?: ?[号日])?`), func(p *phrase, m []string) { p.monthly = true; p.ofMonth(m[1]) }},
		{re(`([0-9]{1,2})(?:st|nd|rd|th)(?: day)?`), func(p *phrase, m []string) { p.ofMonth(m[1]) }},
		{re(`month(?:ly)?`), func(p *phrase, _ []string) { p.monthly = true }},
		{re(`(?:day|daily|everyday|天|日)`), func(p *phrase, _ []string) { p.daily = true }},
		{re(`half (?:an )?hour|半个?小时`), func(p *phrase, _ []string) { p.steps("30", 60, false) }},
		{re(numeral + ` ?(?:minutes?|mins?|分钟)`), func(p *phrase, m []string) { p.steps(m[1], 60, false) }},
		{re(numeral + ` ?(?:hours?|个?小时)`), func(p *phrase, m []string) { p.steps(m[1], 24, true) }},
		{re(`hour(ly)?|个?小时`), func(p *phrase, m []string) {
			p.every = p.every || m[1] != ""
			p.steps("1", 24, true)
		}},
		{re(`noon`), func(p *phrase, _ []string) { p.time("12", "", "") }},
		{re(`midnight`), func(p *phrase, _ []string) { p.time("0", "", "") }},
		{re(partsDay + ` ?` + numeral + `(?:点|时|點)(半|一刻|三刻)?(?:` + numeral + `分?)?[整钟]?`), chineseTime},
		{re(`(早|晚) ?` + numeral + `(?:点|时)(半|一刻|三刻)?(?:` + numeral + `分?)?[整钟]?`), func(p *phrase, m []string) {
			p.anyDay()
			m[1] += "上"
			chineseTime(p, m)
		}},
		{re(`中午`), func(p *phrase, _ []string) { p.time("12", "", "") }},
		{re(`([0-9]{1,2})(?::([0-9]{2}))? ?(a\.?m\.?|p\.?m\.?|in the (?:morning|afternoon|evening)|at night)`), func(p *phrase, m []string) { p.time(m[1], m[2], m[3]) }},
		{re(`(morning|afternoon|evening|night)s? at ([0-9]{1,2})(?::([0-9]{2}))?(?: ?([ap]\.?m\.?))?`), func(p *phrase, m []string) {
			p.anyDay()
			p.time(m[2], m[3], cmp.Or(m[4], map[bool]string{true: "at night", false: "in the " + m[1]}[m[1] == "night"]))
		}},
		{re(partsDay + ` ?([0-9]{1,2})[:：]([0-9]{2})`), func(p *phrase, m []string) { p.time(m[2], m[3], m[1]) }},
		{re(`([0-9]{1,2})([月天日周年]?)`), func(p *phrase, m []string) {
			p.bad = p.bad || p.every || m[2] != "" // as in every 3 mornings, or 3月
			p.time(m[1], "", "")
		}},
	}
})

func re(s string) *regexp.Regexp { return regexp.MustCompile(`^(?:` + s + `)`) }

// word reads one term.
func (p *phrase) word() bool {
	for _, t := range terms() {
		m := t.is.FindStringSubmatch(p.rest)
		if m == nil || m[0] == "" {
			continue
		}
		rest := p.rest[len(m[0]):]
		if last := m[0][len(m[0])-1]; last < 0x80 && last != '.' && !endsWord(rest) {
			continue
		}
		p.rest = rest
		t.say(p, m)
		return !p.bad
	}
	return false
}

// turn takes note of times or days that follow.
func (p *phrase) turn(timed bool) {
	if p.turns == 0 || timed != p.timed {
		p.turns++
	}
	p.timed = timed
}

func (p *phrase) day(days ...int) {
	p.turn(false)
	for _, d := range days {
		if !slices.Contains(p.days, d) {
			p.days = append(p.days, d)
		}
	}
}

// moreDays takes in days that follow another one without a sign between them, as in 每周一三五. A numeral before 点 is the
// hour, and 二十点 may be one, too.
func (p *phrase) moreDays() {
	rest := strings.TrimLeft(p.rest, "一二三四五六日天")
	days := []rune(strings.TrimSuffix(p.rest, rest))
	switch {
	case len(days) == 0:
		return
	case strings.HasPrefix(rest, "点"), strings.HasPrefix(rest, "时"):
		rest, days = string(days[len(days)-1])+rest, days[:len(days)-1]
	case strings.HasPrefix(rest, "十") && strings.ContainsRune("一二", days[len(days)-1]):
		return
	}
	for _, day := range days {
		p.day(chineseDay(string(day)))
	}
	p.rest = rest
}

func (p *phrase) span(from, to int) {
	for d := from; ; d = (d + 1) % 7 {
		p.day(d)
		if d == to {
			return
		}
	}
}

// anyDay makes the schedule a daily one, unless days are named.
func (p *phrase) anyDay() { p.daily = len(p.days) == 0 && p.dom == 0 }

func (p *phrase) ofMonth(text string) {
	n, ok := number(text)
	p.bad = p.bad || !ok || n < 1 || n > 31 || p.dom != 0
	p.dom = n
}

// steps takes in "every so many minutes or hours". Only divisors of the whole repeat in the
// same way each hour or each day.
func (p *phrase) steps(text string, whole int, hourly bool) {
	n, ok := number(text)
	p.bad = p.bad || !ok || n < 1 || whole%n != 0 || n == whole || p.step != 0 || !p.every
	p.step, p.hourly = n, hourly
}

// time takes in a time of the day; part is am or pm, or a part of the day.
func (p *phrase) time(hour, minute, part string) {
	h, ok := number(hour)
	said, m := h, 0
	if minute != "" {
		var fine bool
		m, fine = number(minute)
		ok = ok && fine
	}
	switch {
	case part == "":
	case part[0] == 'p', part == "in the afternoon", part == "in the evening", part == "下午", part == "傍晚", part == "晚上":
		ok = ok && h >= 1 && h <= 23
		if part[0] != 'p' && part != "in the afternoon" && part != "下午" {
			ok = ok && h >= 4 && h != 12 // midnight and after it, but of which day?
		}
		if h < 12 {
			h += 12
		}
	case part == "at night", part == "夜里":
		ok = ok && h >= 6 && h <= 11
		h += 12
	case part == "中午":
		ok = ok && (h >= 11 && h <= 13 || h == 1 || h == 2)
		if h < 11 {
			h += 12
		}
	default: // the morning
		ok = ok && h <= 12
		if h == 12 && part != "上午" {
			ok = ok && (part[0] == 'a' || part == "凌晨")
			h = 0
		}
	}
	p.turn(true)
	p.plain, p.late = p.plain || part == "" && h > 0 && h < 12, p.late || h > said
	ok = ok && h <= 23 && m <= 59 && (len(p.hours) == 0 || p.minute == m)
	p.bad = p.bad || !ok
	p.hours, p.minute = append(p.hours, h), m
}

func chineseTime(p *phrase, m []string) {
	minute := m[4]
	if m[3] != "" {
		p.bad = p.bad || minute != ""
		minute = map[string]string{"半": "30", "一刻": "15", "三刻": "45"}[m[3]]
	}
	p.time(m[2], minute, m[1])
}

// cron is the schedule of the whole phrase.
func (p *phrase) cron() (string, bool) {
	days := "*"
	switch {
	case p.bad, p.plain && p.late, p.monthly != (p.dom > 0), p.dom > 0 && (len(p.days) > 0 || p.daily), p.daily && len(p.days) > 0:
		return "", false
	case len(p.days) > 0:
		days = weekdays(p.days)
	}
	dom := "*"
	if p.dom > 0 {
		dom = strconv.Itoa(p.dom)
	}
	if p.step > 0 {
		if len(p.hours) > 0 || p.monthly {
			return "", false
		}
		minute, hour := "0", "*"
		switch {
		case p.hourly && p.step > 1:
			hour = fmt.Sprintf("*/%d", p.step)
		case !p.hourly && p.step == 1:
			minute = "*"
		case !p.hourly:
			minute = fmt.Sprintf("*/%d", p.step)
		}
		return fmt.Sprintf("%s %s * * %s", minute, hour, days), true
	}
	if len(p.hours) == 0 || !p.daily && !p.monthly && len(p.days) == 0 {
		return "", false
	}
	slices.Sort(p.hours)
	hours := slices.Compact(p.hours)
	if len(hours) > 1 && p.turns > 2 {
		return "", false // some days have other times than others
	}
	return fmt.Sprintf("%d %s %s * %s", p.minute, joined(hours), dom, days), true
}

// weekdays are days of the week as cron writes them.
func weekdays(days []int) string {
	slices.Sort(days)
	switch {
	case len(days) == 7:
		return "*"
	case len(days) > 2 && days[len(days)-1]-days[0] == len(days)-1:
		return fmt.Sprintf("%d-%d", days[0], days[len(days)-1])
	}
	return joined(days)
}

func joined(numbers []int) string {
	var out []string
	for _, n := range numbers {
		out = append(out, strconv.Itoa(n))
	}
	return strings.Join(out, ",")
}

func englishDay(name string) int {
	return slices.Index([]string{"su", "mo", "tu", "we", "th", "fr", "sa"}, name[:2])
}

func chineseDay(name string) int {
	if name == "天" {
		return 0
	}
	return slices.Index([]rune("日一二三四五六"), []rune(name)[0])
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
