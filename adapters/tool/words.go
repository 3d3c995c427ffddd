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
	en, err := worded(englishWords, false, kind, about)
	if err != nil {
		return Explanation{}, err
	}
	zh, err := worded(chineseWords, true, kind, about)
	if err != nil {
		return Explanation{}, err // Unreachable: both files have the same sentences
	}
	return Explanation{Title: en.Title, What: en.What, Risk: en.Risk, Chinese: zh}, nil
}

func worded(file string, l inChinese, kind string, about any) (Words, error) {
	texts, err := parseSentences(file, map[string]any{
		"quote": quote, "duration": l.duration, "moment": l.moment, "size": l.size, "regularly": l.regularly,
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
			return quote(strings.NewReplacer("“", "‘", "”", "’").Replace(text))
		},
		"quotes": func(texts []string) string {
			var out []string
			for _, text := range texts {
				out = append(out, quote(text))
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

// quote is a text between two marks that it cannot imitate. What would be invisible in a line is escaped as in Go.
func quote(text string) string {
	if strings.ContainsAny(text, "“”") || strings.Join(strings.Fields(text), " ") != text {
		text = strings.NewReplacer("“", `\u201c`, "”", `\u201d`, "  ", ` \x20`).Replace(strconv.Quote(text))
	}
	return "“" + text + "”"
}

// Duration formats a duration for people, in English or Chinese.
func Duration(d time.Duration, chinese bool) string { return inChinese(chinese).duration(d) }

// Size formats a number of bytes for people.
func Size(bytes int64, chinese bool) string { return inChinese(chinese).size(bytes) }

// inChinese formats values in Chinese; its zero value does in English.
type inChinese bool

// or is the text in the language.
func (c inChinese) or(english, chinese string) string {
	if c {
		return chinese
	}
	return english
}

// duration is a duration in days, hours, minutes and seconds, without those that are zero.
func (c inChinese) duration(d time.Duration) string {
	d = d.Round(time.Second)
	var out []string
	for _, unit := range []struct {
		size             time.Duration
		english, chinese string
	}{{24 * time.Hour, "day", "天"}, {time.Hour, "hour", "小时"}, {time.Minute, "minute", "分钟"}, {time.Second, "second", "秒"}} {
		if n := int64(d / unit.size); n > 0 || unit.size == time.Second && len(out) == 0 {
			if n != 1 {
				unit.english += "s"
			}
			out = append(out, strconv.FormatInt(n, 10)+" "+c.or(unit.english, unit.chinese))
		}
		d %= unit.size
	}
	return strings.Join(out, " ")
}

func (c inChinese) moment(t time.Time) string {
	clock := "15:04"
	if t.Second() != 0 {
		clock = "15:04:05"
	}
	day := []string{"日", "一", "二", "三", "四", "五", "六"}[t.Weekday()]
	return c.or(t.Format("Monday, 2 January 2006, "), t.Format("2006 年 1 月 2 日")+"（星期"+day+"）") + t.Format(clock) + c.zone(t)
}

// zone names the time zone, by its location if that is known.
func (c inChinese) zone(t time.Time) string {
	name := t.Location().String()
	if name == "Local" {
		name = t.Format("MST")
	}
	return c.or(" ("+name+")", "（"+name+"）")
}

// regularly is a cron schedule in words.
func (c inChinese) regularly(cron string) string {
	words := schedule.Words(cron, bool(c))
	switch {
	case words == "":
		return c.or("again and again, on the schedule "+quote(cron), "按时间表"+quote(cron)+"反复")
	case !bool(c), strings.HasSuffix(words, "时"), strings.HasSuffix(words, "钟"):
		return words
	default: // it ends with digits
		return words + " "
	}
}

func (c inChinese) list(items []string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	last := len(items) - 1
	return strings.Join(items[:last], c.or(", ", "、")) + c.or(" and ", "、") + items[last]
}

func (c inChinese) size(bytes int64) string {
	switch {
	case bytes == 1 && !bool(c):
		return "1 byte"
	case bytes < 10_000:
		return strconv.FormatInt(bytes, 10) + " " + c.or("bytes", "字节")
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
