// Package schedule says when tasks are due: cron schedules and single times, in a
// time zone. It is pure; nothing in it looks at a clock.
//
// A cron schedule has five fields: minute, hour, day of the month, month, weekday.
// When the clocks are put forward, a time of the day that does not exist that day is
// due right after the gap. When they are put back, a time of the day is due once, at
// its first occurrence. A schedule of every hour follows the hours as they pass: it
// skips what does not exist, and is due in both of two equal hours.
package schedule
