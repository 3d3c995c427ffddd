// Package platformtest is what tests of platforms need: a suite that every
// platform runs ([Run]), a recording core ([Host]) and a strict fake of the
// Telegram Bot API ([BotAPI]) that refuses what the real one refuses and fails
// on purpose.
//
// Everything listens on loopback only and is safe for concurrent use. Nothing
// here waits by the clock: conditions are waited for, with a deadline that
// fails the test.
package platformtest
