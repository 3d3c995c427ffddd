// Package longtext cuts long texts into pages that fit a platform's messages, recognizes the phrases that ask for more
// pages, and formats tool output as text. It is pure.
package longtext
