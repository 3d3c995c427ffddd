// Package wire reads messages as the Telegram Bot API delivers them: their texts, their files, whom
// they are from and what they reply to.
//
// It promises that names and descriptions given by senders become single short lines, that no content
// of a rich message makes an update undecodable, and that [Versions] recognizes edits that change
// nothing of what is passed on.
package wire
