// Package feishutest is a strict fake of the Feishu open platform for tests: tokens, messages, cards, files, names, and
// events over the long connection or a webhook. It refuses what the service refuses, answers with the service's codes,
// and fails on purpose.
package feishutest
