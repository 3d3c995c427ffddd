package modelmessage

import "github.com/shipmyagent/shipmyagent/messages/internal/rawjson"

// AppendString appends s as a JSON string. It escapes only what JSON requires; bytes
// that are not UTF-8 become U+FFFD.
func AppendString(dst []byte, s string) []byte { return rawjson.AppendString(dst, s) }

// AppendJSON appends a JSON value without the space between its tokens.
func AppendJSON(dst, raw []byte) []byte { return rawjson.Append(dst, raw) }
