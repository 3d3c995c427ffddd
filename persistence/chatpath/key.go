// Package chatpath says which folder belongs to a chat: how a chat's key is written as a path below
// a folder of chats, and which shard the chat is in.
//
// A path and a shard depend on the key alone and must never change, because data on the disk is
// named after them. Different keys have different paths, also in file systems that ignore letter
// case or Unicode normal forms. It touches no files.
package chatpath

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/shipmyagent/shipmyagent/messages"
)

// maxComponent is the length from which a folder name continues in a nested folder. File systems
// allow 255 bytes; the remaining ones are for suffixes such as ".jsonl".
const maxComponent = 200

// Continues ends the name of a folder whose nested folders continue longer names.
const Continues = '~'

// errFolder is the cause of every refusal of [Decode].
var errFolder = errors.New("not the folder of a chat")

// Encode returns the path of a chat below a folder of chats, with slashes.
//
// It consists of a-z, 0-9 and "-_.@=%+~/" only, so that neither letter case nor Unicode
// normalisation can give two chats one path: a capital letter is "+" and the small one, every other
// byte "%" and two digits. A component never starts with a dot and has at most 201 bytes; a longer
// name continues in a nested folder, and the outer ones end in "~". Empty keys, keys longer than
// [messages.MaxChatKey] and keys that are not UTF-8 are refused with [messages.ErrChatKey].
func Encode(key messages.ChatKey) (string, error) {
	switch {
	case key == "":
		return "", fmt.Errorf("%w: empty", messages.ErrChatKey)
	case len(key) > messages.MaxChatKey:
		return "", fmt.Errorf("%w: %d bytes, at most %d", messages.ErrChatKey, len(key), messages.MaxChatKey)
	case !utf8.ValidString(string(key)):
		return "", fmt.Errorf("%w: not UTF-8", messages.ErrChatKey)
	}
	return string(appendKey(make([]byte, 0, len(key)+16), key)), nil
}

func appendKey(dst []byte, key messages.ChatKey) []byte {
	const digits = "0123456789abcdef"
	start := len(dst)
	for i := range len(key) {
		b := key[i]
		if len(dst)-start > maxComponent-len("%xx") {
			dst = append(dst, Continues, '/')
			start = len(dst)
		}
		switch {
		case literal(b) && (b != '.' || len(dst) > start):
			dst = append(dst, b)
		case 'A' <= b && b <= 'Z':
			dst = append(dst, '+', b+'a'-'A')
		default:
			dst = append(dst, '%', digits[b>>4], digits[b&15])
		}
	}
	return dst
}

func literal(b byte) bool {
	return 'a' <= b && b <= 'z' || '0' <= b && b <= '9' || strings.IndexByte("-_.@=", b) >= 0
}

// Decode returns the key of the chat at a path made by [Encode]. It refuses all other paths.
func Decode(folder string) (messages.ChatKey, error) {
	joined := strings.ReplaceAll(folder, string(Continues)+"/", "")
	key := make([]byte, 0, len(joined))
	for i := 0; i < len(joined); i++ {
		switch b := joined[i]; {
		case b == '+' && i+1 < len(joined):
			i++
			key = append(key, joined[i]-('a'-'A'))
		case b == '%' && i+2 < len(joined):
			key = append(key, digit(joined[i+1])<<4|digit(joined[i+2]))
			i += 2
		default:
			key = append(key, b)
		}
	}
	// Any irregular path encodes differently.
	if again, err := Encode(messages.ChatKey(key)); err != nil || again != folder {
		return "", fmt.Errorf("%w: %q", errFolder, folder)
	}
	return messages.ChatKey(key), nil
}

func digit(b byte) byte {
	if b >= 'a' {
		return (b - 'a' + 10) & 15
	}
	return (b - '0') & 15
}

// Folders are a folder's path and those between it and the root, outermost first.
func Folders(root, folder string) []string {
	var all []string
	at := root
	for name := range strings.SplitSeq(folder, "/") {
		at = path.Join(at, name)
		all = append(all, at)
	}
	return all
}

// IsName reports whether an id can be the name of a file in the folder of a chat.
func IsName(id string) bool {
	if len(id) > maxComponent || id[0] == '.' {
		return false
	}
	for i := range len(id) {
		b := id[i]
		if !literal(b) && (b < 'A' || b > 'Z') {
			return false
		}
	}
	return true
}

// Shards is how many shards the chats of a host are spread over.
const Shards = 256

// Shard is the shard of a chat: the 32-bit FNV-1a hash of its key, modulo [Shards]. It must never
// change, because folders and actors are named after it.
func Shard(key messages.ChatKey) uint32 {
	const offset, prime = 2166136261, 16777619
	h := uint32(offset)
	for i := range len(key) {
		h = (h ^ uint32(key[i])) * prime
	}
	return h % Shards
}
