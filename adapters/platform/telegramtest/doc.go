// Package telegramtest is a strict fake of Telegram's Bot API for tests: updates by polling or a webhook, messages,
// markup, buttons, files, drafts and limits. It refuses what the service refuses, answers with the service's words, and
// fails on purpose.
package telegramtest
