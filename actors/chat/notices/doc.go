// Package notices holds the notices that chats send to people, in English and Chinese. The chat decides who gets which
// notice in which language.
package notices
