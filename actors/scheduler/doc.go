// Package scheduler is the actor that runs tasks at their times.
//
// A fire is a task at a planned time; both together are its id. It is in the fire log before
// anything else happens. Then it is one ingress to a chat of its own, and afterwards one post to
// the chat of the task. Both chats recognise the fire's id, so the scheduler simply repeats its
// requests after a crash or without an answer, and each takes effect once.
//
// One timer waits for the next planned time, but at most half a minute, so that a changed clock or
// a machine that slept is noticed soon. Times missed meanwhile do not all run: only the newest is
// made up for, if it is younger than the interval, and people read how many were skipped. A clock
// that was set back repeats nothing. A task that is still running at its next time skips that time.
package scheduler
