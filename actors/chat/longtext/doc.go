// Package longtext cuts long texts into pages that fit a platform's messages, reads
// what people say to see more of them, and writes out what a tool said as text. It is pure.
package longtext
