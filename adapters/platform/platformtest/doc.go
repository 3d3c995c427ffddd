// Package platformtest is a suite that every platform runs ([Run]), and a core that records what it is given ([Host],
// [Live]). The fakes of services are in telegramtest and feishutest.
package platformtest
