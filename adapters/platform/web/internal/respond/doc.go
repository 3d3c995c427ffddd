// Package respond writes the responses of the web platform that are not streams: JSON, and refusals.
//
// A refusal is a [Problem]: a status, a code for programs and a sentence for people. It promises that
// people read every sentence in their language, English or Chinese, and that a client of the AI SDK,
// which shows the body as it is, gets the sentence alone; other programs get JSON with the code.
package respond
