package schedule

import (
	"testing"
	"time"
)

func TestPhrase(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Every weekday at 9":              "0 9 * * 1-5",
		"every weekday at 9am":            "0 9 * * 1-5",
		"weekdays at 9 in the morning":    "0 9 * * 1-5",
		"each working day at 09:30":       "30 9 * * 1-5",
		"Monday to Friday at 9":           "0 9 * * 1-5",
		"mon-fri 9:00":                    "0 9 * * 1-5",
		"every day at 9 pm":               "0 21 * * *",
		"daily at 12 p.m.":                "0 12 * * *",
		"daily at 12am":                   "0 0 * * *",
		"every Monday and Thursday at 18": "0 18 * * 1,4",
		"on weekends at 10:15":            "15 10 * * 0,6",
		"friday to monday at 7":           "0 7 * * 0,1,5,6",
		"每个工作日九点":                         "0 9 * * 1-5",
		"每个工作日早上9点":                       "0 9 * * 1-5",
		"工作日上午九点半":                        "30 9 * * 1-5",
		"周一到周五 9:00":                      "0 9 * * 1-5",
		"每天晚上十点":                          "0 22 * * *",
		"每日21:15":                         "15 21 * * *",
		"每周一、周三下午2点":                      "0 14 * * 1,3",
		"每周日 20点05分":                      "5 20 * * 0",
		"每星期天中午十二点":                       "0 12 * * 0",
		"每个周末十点":                          "0 10 * * 0,6",
		"每天二十三点":                          "0 23 * * *",
		"每週一早上九點":                         "0 9 * * 1",
		"every Monday at 8:15 pm":         "15 20 * * 1",
		"weekdays at 11:45 a.m.":          "45 11 * * 1-5",
		"every weekday at nine":           "0 9 * * 1-5",
		"daily at Eleven pm":              "0 23 * * *",
		"每周一、三、五下午三点":                     "0 15 * * 1,3,5",
		"每周一和周四 9:00":                     "0 9 * * 1,4",
		"每周六和日十点":                         "0 10 * * 0,6",
		"每周一三五早上八点半":                      "30 8 * * 1,3,5",
		"周一三五三点":                          "0 3 * * 1,3,5",
		"每周一三点":                           "0 3 * * 1",
		"每周一二十点":                          "0 20 * * 1",
		"每周三五十点":                          "0 10 * * 3,5",
		"每周工作日的9点钟":                       "0 9 * * 1-5",
		"每天早上 9 点 05 分":                   "5 9 * * *",
		"每周二四 18:30":                      "30 18 * * 2,4",
	} {
		got, ok := Phrase(text)
		if !ok || got != want {
			t.Errorf("Phrase(%q) = %q, %t; want %q", text, got, ok, want)
		}
		if _, err := ParseCron(got, time.UTC); err != nil {
			t.Errorf("Phrase(%q): %v", text, err)
		}
	}
}

// What is not all understood, or no cron schedule can say, is left to cron's own error.
func TestPhraseRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"every hour", "every 15 minutes", "every month on the 1st at 9", "每小时", "每月1号早上八点", "sat, sun at 8 and 20", "9am and 5pm, Mon and Thu", "每天上午8点、10点",
		"", "9", "at 9", "every", "every weekday", "tomorrow at 9", "every other day at 9", "every weekday at 9 except Monday", "every day at 25",
		"every 7 minutes", "every 0 minutes", "every day at 9:30 and 10", "every 2 weeks on monday at 9", "every day monday at 9", "every month at 9",
		"every day at 13 am", "0 9 * * 1-5", "@daily", "每天", "每隔一天九点", "明天九点", "每天三十点", "每天晚上十二点", "每月三十二号九点", "every monthly at 9 at 10:30", "every sunday9", "九点",
		"biweekly monday 9", "every first monday at 9", "every last day of the month at 9",
		// Numbers that are no times of the day.
		"每3天9点", "每 3 天 9 点", "3月1号9点", "每12月25日9点", "每3周周一9点", "every 2 mondays at 9", "every 2 week on monday at 9", "each 2 weekends at 10",
		"every 3 mornings at 8", "every 2 month on the 1st at 9", "20分钟", "2 hours", "half an hour",
		// Each day has a time of its own.
		"every Monday at 9 and Thursday at 17", "Monday 9am, Thursday 5pm", "weekdays at 9 and weekends at 10", "9 on Monday and 17 on Thursday",
		"every Monday at 9 and at 17 on Thursday", "每周一9点和周四17点", "工作日9点，周末10点",
		// Night or day?
		"每天晚上一点", "每晚1点", "每天早上12点", "every evening at 12", "every morning at 12", "every day at 1 in the evening",
		"every day at 2 and 4 pm", "每天下午2点和4点", "周五晚上六点、八点",
	} {
		if got, ok := Phrase(text); ok {
			t.Errorf("Phrase(%q) = %q; want none", text, got)
		}
	}
}

func FuzzPhrase(f *testing.F) {
	for _, text := range []string{"Every weekday at 9", "每个工作日九点", "mon-fri 9:00", "每月十五日九点零五分", "every 15 minutes"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		cron, ok := Phrase(text)
		if !ok {
			return
		}
		if _, err := ParseCron(cron, time.UTC); err != nil {
			t.Errorf("Phrase(%q) = %q: %v", text, cron, err)
		}
	})
}
