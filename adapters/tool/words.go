package tool

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/shipmyagent/shipmyagent/messages/schedule"
)

// The texts of all requests, in one file per language. A tool passes the values that its request mentions; all
// sentences for people are in these files.
//
//go:embed words/en.tmpl
var englishWords string

//go:embed words/zh.tmpl
var chineseWords string

// Words are the texts of a request in one language.
type Words struct {
	Title string // of the tool
	What  string // one sentence that says what would happen
	Risk  string // optional
}

// Describe makes the texts of a request. kind selects the sentences in the files, usually by the name of the tool;
// about has the values that they mention. The caller adds Exact and Bind.
func Describe(kind string, about any) (Explanation, error) {
	en, err := worded(englishWords, english{}, kind, about)
	if err != nil {
		return Explanation{}, err
	}
	zh, err := worded(chineseWords, chinese{}, kind, about)
	if err != nil {
		return Explanation{}, err // Unreachable: both files have the same sentences
	}
	return Explanation{Title: en.Title, What: en.What, Risk: en.Risk, Chinese: zh}, nil
}

// locale formats values in a language.
type locale interface {
	quote(text string) string
	duration(d time.Duration) string
	moment(t time.Time) string
	zone(t time.Time) string
	list(items []string) string
	size(bytes int64) string
	regularly(cron string) string
}

func worded(file string, l locale, kind string, about any) (Words, error) {
	texts, err := parseSentences(file, map[string]any{
		"quote": l.quote, "duration": l.duration, "moment": l.moment, "size": l.size, "regularly": l.regularly,
		"moments": func(times []time.Time) string {
			var out []string
			for i, at := range times {
				text := l.moment(at)
				if i < len(times)-1 { // only the last one shows the time zone
					text = strings.TrimSuffix(text, l.zone(at))
				}
				out = append(out, text)
			}
			return l.list(out)
		},
		// prose quotes a sentence: quotation marks in it become single ones.
		"prose": func(text string) string {
			return l.quote(strings.NewReplacer("“", "‘", "”", "’").Replace(text))
		},
		"quotes": func(texts []string) string {
			var out []string
			for _, text := range texts {
				out = append(out, l.quote(text))
			}
			return l.list(out)
		},
	})
	if err != nil {
		return Words{}, fmt.Errorf("words of requests: %w", err) // Unreachable: a test parses the files
	}
	var out Words
	for name, into := range map[string]*string{"title": &out.Title, "what": &out.What, "risk": &out.Risk} {
		text, err := texts.say(kind+"."+name, about)
		if err != nil {
			return Words{}, fmt.Errorf("words of requests: %w", err)
		}
		*into = strings.Join(strings.Fields(text), " ")
	}
	return out, nil
}

// quoted is a text between two marks that it cannot imitate. What would be invisible in a line is escaped as in Go.
func quoted(text, left, right string) string {
	if strings.ContainsAny(text, left+right) || strings.Join(strings.Fields(text), " ") != text {
		text = strings.NewReplacer(left, `\u201c`, right, `\u201d`, "  ", ` \x20`).Replace(strconv.Quote(text))
	}
	return left + text + right
}

// Duration formats a duration for people, in English or Chinese.
func Duration(d time.Duration, inChinese bool) string {
	if inChinese {
		return chinese{}.duration(d)
	}
	return english{}.duration(d)
}

// Size formats a number of bytes for people.
func Size(bytes int64, inChinese bool) string {
	if inChinese {
		return chinese{}.size(bytes)
	}
	return english{}.size(bytes)
}

type english struct{}

func (english) quote(text string) string { return quoted(text, "“", "”") }

func (english) duration(d time.Duration) string {
	return spelled(d, " ", func(n int64, unit int) string {
		name := []string{"day", "hour", "minute", "second"}[unit]
		if n != 1 {
			name += "s"
		}
		return strconv.FormatInt(n, 10) + " " + name
	})
}

func (english) moment(t time.Time) string {
	return t.Format("Monday, 2 January 2006, ") + clock(t) + english{}.zone(t)
}

func (english) zone(t time.Time) string { return zoneOf(t, " (", ")") }

// regularly is a cron schedule in words.
func (english) regularly(cron string) string {
	if words := schedule.Words(cron, false); words != "" {
		return words
	}
	return "again and again, on the schedule " + english{}.quote(cron)
}

func (english) list(items []string) string { return joined(items, ", ", " and ") }

func (english) size(bytes int64) string {
	if bytes == 1 {
		return "1 byte"
	}
	return sized(bytes, "bytes")
}

type chinese struct{}

func (chinese) quote(text string) string { return quoted(text, "“", "”") }

func (chinese) duration(d time.Duration) string {
	return spelled(d, " ", func(n int64, unit int) string {
		return strconv.FormatInt(n, 10) + " " + []string{"天", "小时", "分钟", "秒"}[unit]
	})
}

func (chinese) moment(t time.Time) string {
	day := []string{"日", "一", "二", "三", "四", "五", "六"}[t.Weekday()]
	return t.Format("2006 年 1 月 2 日") + "（星期" + day + "）" + clock(t) + chinese{}.zone(t)
}

func (chinese) zone(t time.Time) string { return zoneOf(t, "（", "）") }

func (chinese) regularly(cron string) string {
	words := schedule.Words(cron, true)
	switch {
	case strings.HasSuffix(words, "时"), strings.HasSuffix(words, "钟"):
		return words
	case words != "": // it ends with digits
		return words + " "
	}
	return "按时间表" + chinese{}.quote(cron) + "反复"
}

func (chinese) list(items []string) string { return joined(items, "、", "、") }

func (chinese) size(bytes int64) string { return sized(bytes, "字节") }

// clock is the time of day, with seconds only if they are not zero.
func clock(t time.Time) string {
	if t.Second() != 0 {
		return t.Format("15:04:05")
	}
	return t.Format("15:04")
}

// zoneOf names the time zone, by its location if that is known.
func zoneOf(t time.Time, left, right string) string {
	name := t.Location().String()
	if name == "Local" {
		name = t.Format("MST")
	}
	return left + name + right
}

// spelled is a duration in days, hours, minutes and seconds, without those that are zero.
func spelled(d time.Duration, between string, unit func(n int64, unit int) string) string {
	d = d.Round(time.Second)
	var out []string
	for i, size := range []time.Duration{24 * time.Hour, time.Hour, time.Minute, time.Second} {
		if n := int64(d / size); n > 0 || size == time.Second && len(out) == 0 {
			out = append(out, unit(n, i))
		}
		d %= size
	}
	return strings.Join(out, between)
}

func joined(items []string, between, last string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	return strings.Join(items[:len(items)-1], between) + last + items[len(items)-1]
}

func sized(bytes int64, unit string) string {
	switch {
	case bytes < 10_000:
		return strconv.FormatInt(bytes, 10) + " " + unit
	case bytes < 10<<20:
		return strconv.FormatInt(bytes>>10, 10) + " KiB"
	}
	return strconv.FormatInt(bytes>>20, 10) + " MiB"
}

// Lines formats the members of a JSON object for people, each as a line "name: value". Values are exact: a text is
// written unchanged, on its own lines if it has several, and quoted if it could be mistaken for something else.
// Different objects never have the same lines. Input that is not an object is returned as JSON.
func Lines(input json.RawMessage) string {
	dec := json.NewDecoder(bytes.NewReader(input))
	if first, err := dec.Token(); err != nil || first != json.Delim('{') {
		return string(input)
	}
	var out []string
	for dec.More() {
		name, err := dec.Token()
		text, ok := name.(string)
		var value json.RawMessage
		if err != nil || !ok || dec.Decode(&value) != nil {
			return string(input)
		}
		if !plainName(text) {
			text = string(encode(text))
		}
		out = append(out, text+":"+lineValue(value))
	}
	return strings.Join(out, "\n")
}

// plainName reports whether a name cannot be confused with the value after it.
func plainName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-.$", r)
	})
}

// lineValue is a value as written after its name.
func lineValue(value json.RawMessage) string {
	var text string
	if len(value) == 0 || value[0] != '"' || json.Unmarshal(value, &text) != nil {
		var compact bytes.Buffer
		if json.Compact(&compact, value) != nil {
			return " " + string(value) // Unreachable: it was decoded
		}
		return " " + compact.String()
	}
	if strings.Contains(text, "\n") && !strings.Contains(text, "\r") {
		var b strings.Builder
		for line := range strings.SplitSeq(text, "\n") {
			b.WriteString("\n  |")
			if line != "" { // a trailing space would be marked
				b.WriteString(" " + line)
			}
		}
		return b.String()
	}
	literal := json.Valid([]byte(text)) // true, null, 12, …
	if literal || text == "" || strings.ContainsAny(text[:1], `"{[`) || strings.ContainsAny(text, "\r\n") || strings.TrimSpace(text) != text {
		return " " + string(encode(text))
	}
	return " " + text
}
