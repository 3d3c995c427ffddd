package schedule

import (
	"testing"

	"pgregory.net/rapid"
)

func TestWords(t *testing.T) {
	t.Parallel()
	for cron, want := range map[string][2]string{
		"30 9 * * 1-5":    {"every weekday at 09:30", "每个工作日 09:30"},
		"0 9 * * *":       {"every day at 09:00", "每天 09:00"},
		"0 8,20 * * *":    {"every day at 08:00 and 20:00", "每天 08:00、20:00"},
		"0 18 * * 1,4":    {"every Monday and Thursday at 18:00", "每周一、周四 18:00"},
		"15 10 * * 0,6":   {"every Saturday and Sunday at 10:15", "每周六、周日 10:15"},
		"0 7 * * 0,1,5,6": {"every Sunday, Monday, Friday and Saturday at 07:00", "每周日、周一、周五、周六 07:00"},
		"0 9 15 * *":      {"every month on day 15 at 09:00", "每月 15 日 09:00"},
		"*/15 * * * *":    {"every 15 minutes", "每 15 分钟"},
		"*/30 * * * 1-5":  {"every 30 minutes, every weekday", "每个工作日 每 30 分钟"},
		"0 */2 * * *":     {"every 2 hours", "每 2 小时"},
		"0 * * * *":       {"every hour", "每小时"},
		// What people would not say in fewer words, or in words that say something else.
		"0 9 1 1 *":           {"", ""},
		"0 9 1 * 1":           {"", ""},
		"5 * * * *":           {"", ""},
		"*/7 * * * *":         {"", ""},
		"0 9-17 * * 1-5":      {"", ""},
		"0 9 * * MON":         {"", ""},
		"@daily":              {"", ""},
		"@manual":             {"", ""},
		"":                    {"", ""},
		"0 9 * * * *":         {"", ""},
		"61 9 * * *":          {"", ""},
		"0 9 * * 7":           {"", ""},
		"0 9 * * 6-1":         {"", ""},
		"30 9 * * 1-5; rm -x": {"", ""},
	} {
		if got := [2]string{Words(cron, false), Words(cron, true)}; got != want {
			t.Errorf("%s: %q, want %q", cron, got, want)
		}
	}
}

// What is said in words is not read as another schedule.
func TestWordsAreReadAgain(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		field := func(name string, all ...string) string { return rapid.SampledFrom(all).Draw(t, name) }
		cron := field("minute", "0", "5", "30", "59", "*/15", "*") + " " + field("hour", "0", "9", "12", "23", "8,20", "*/6", "*") + " " +
			field("day", "*", "1", "31") + " * " + field("weekday", "*", "1-5", "0,6", "3", "0-6", "1,3,5", "2-4")
		for _, chinese := range []bool{false, true} {
			words := Words(cron, chinese)
			if again, ok := Phrase(words); ok && again != cron {
				t.Fatalf("%s is %q in words, which is read as %q", cron, words, again)
			}
		}
	})
}
