// Package notices holds what chats say to people by themselves, in English and in
// Chinese. Who reads what, and in which language, is the chat's decision.
package notices
