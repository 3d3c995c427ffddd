package schedule

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Words expresses a cron schedule as people do, such as "every weekday at 09:30" or 每个工作日 09:30. They are empty for a
// schedule that would not be shorter in words, or that has other notations; it is shown as it is.
func Words(cron string, chinese bool) string {
	fields := strings.Fields(cron)
	if len(fields) != 5 || fields[3] != "*" {
		return ""
	}
	minute, hour, dom := fields[0], fields[1], fields[2]
	days := daysInWords(fields[4], chinese)
	if days == "" && fields[4] != "*" || dom != "*" && !within(dom, 1, 31) {
		return ""
	}
	switch {
	case dom == "*" && hour == "*" && strings.HasPrefix(minute, "*/"):
		return steps(minute[2:], 60, "minutes", "分钟", days, chinese)
	case dom == "*" && minute == "0" && strings.HasPrefix(hour, "*/"):
		return steps(hour[2:], 24, "hours", "小时", days, chinese)
	case dom == "*" && minute == "0" && hour == "*":
		return steps("", 24, "hour", "小时", days, chinese)
	}
	times := clockTimes(hour, minute, chinese)
	switch {
	case times == "", dom != "*" && fields[4] != "*":
		return ""
	case dom != "*" && chinese:
		return "每月 " + dom + " 日 " + times
	case dom != "*":
		return "every month on day " + dom + " at " + times
	case days == "" && chinese:
		return "每天 " + times
	case days == "":
		return "every day at " + times
	case chinese:
		return days + " " + times
	}
	return days + " at " + times
}

// within reports whether a field is a number in a range.
func within(field string, least, most int) bool {
	n, err := strconv.Atoi(field)
	return err == nil && n >= least && n <= most
}

// steps expresses "every so many minutes or hours", on days of the week if some are named. It is empty unless the whole
// consists of equal steps.
func steps(n string, whole int, unit, zhUnit, days string, chinese bool) string {
	if k, err := strconv.Atoi(n); n != "" && (err != nil || k < 2 || k >= whole || whole%k != 0) {
		return ""
	}
	if chinese && n == "" {
		return strings.TrimSpace(days + " 每" + zhUnit)
	}
	if chinese {
		return strings.TrimSpace(days + " 每 " + n + " " + zhUnit)
	}
	words := strings.Join(strings.Fields("every "+n+" "+unit), " ")
	if days != "" {
		words += ", " + days
	}
	return words
}

// clockTimes are the times of day of a list of hours. It is empty for anything else.
func clockTimes(hours, minute string, chinese bool) string {
	var out []string
	for hour := range strings.SplitSeq(hours, ",") {
		if !within(hour, 0, 23) || !within(minute, 0, 59) {
			return ""
		}
		out = append(out, fmt.Sprintf("%02s:%02s", hour, minute))
	}
	return listed(out, chinese)
}

// daysInWords names days of the week. It is empty for all of them, and for other notations.
func daysInWords(field string, chinese bool) string {
	switch {
	case field == "1-5" && chinese:
		return "每个工作日"
	case field == "1-5":
		return "every weekday"
	}
	var out []string
	for part := range strings.SplitSeq(field, ",") {
		from, to, span := strings.Cut(part, "-")
		if !span {
			to = from
		}
		first, err := strconv.Atoi(from)
		last, errTo := strconv.Atoi(to)
		if err != nil || errTo != nil || first > last || last > 6 {
			return ""
		}
		for day := first; day <= last; day++ {
			out = append(out, dayName(day, chinese))
		}
	}
	if field == "0,6" { // people begin the weekend with Saturday
		slices.Reverse(out)
	}
	if chinese {
		return "每" + listed(out, true)
	}
	return "every " + listed(out, false)
}

func dayName(day int, chinese bool) string {
	if chinese {
		return "周" + string([]rune("日一二三四五六")[day])
	}
	return []string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"}[day]
}

// listed joins words as people list them.
func listed(items []string, chinese bool) string {
	if chinese {
		return strings.Join(items, "、")
	}
	if n := len(items); n > 1 {
		return strings.Join(items[:n-1], ", ") + " and " + items[n-1]
	}
	return strings.Join(items, "")
}
