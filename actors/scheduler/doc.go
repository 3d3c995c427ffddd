// Package scheduler is the actor that does tasks at their times.
//
// A fire is a task at a planned time, and that names it. It is in the fire log before
// anything happens. What follows is one ingress to a chat of its own, then one post to
// the chat of the task; both are known there by the fire's id, so the scheduler simply
// asks again after a crash, or when nobody answers, and each happens once.
//
// One timer waits for the next time, and at most half a minute: so a clock that was
// set, or a machine that slept, is noticed soon. Times that passed meanwhile are not
// run one after the other: the newest is made up for if it is younger than the time
// between two, and people read how many are left out. A clock that was put back
// repeats nothing. A task that is still under way at its next time skips that.
package scheduler
