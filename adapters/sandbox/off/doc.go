// Package off runs programs without a sandbox, for operators who say so. A
// program can do what the host's user can. Only limits hold, and its end: its
// process group, and where a control group can be had everything that it began,
// is killed with it. Of what has to stay as it was, only pinned files are looked
// at, right before the start.
package off
