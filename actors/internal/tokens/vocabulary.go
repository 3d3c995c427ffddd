package tokens

import (
	"bufio"
	_ "embed"
	"errors"
	"io"
	"strings"
)

// name is the encoding of the newest models of OpenAI. What others read is near enough, and is corrected by what they report.
const name = "o200k_base"

// The vocabulary: all tokens in the order of their ranks, each followed by the byte end, compressed. Its test makes this
// file from that of the tokenizer's authors, which is four times as large.
//
//go:embed vocabulary/o200k_base
var vocabulary string

// pattern says where the encoding splits text before it looks for tokens, as published with its vocabulary.
func pattern() string {
	return strings.Join([]string{
		`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?`,
		`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?`,
		`\p{N}{1,3}`,
		` ?[^\s\p{L}\p{N}]+[\r\n/]*`,
		`\s*[\r\n]+`,
		`\s+(?!\S)`,
		`\s+`,
	}, "|")
}

// end follows each token. As it begins no character of UTF-8, the only token with it is the byte itself, which is written
// as an empty one.
const end = 0xff

// ranks reads a vocabulary.
func ranks(in *bufio.Reader) (map[string]int, error) {
	out := map[string]int{}
	for {
		token, err := in.ReadSlice(end)
		switch {
		case errors.Is(err, io.EOF) && len(token) == 0:
			return out, nil
		case err != nil:
			return nil, err
		case len(token) > 1:
			token = token[:len(token)-1]
		}
		out[string(token)] = len(out)
	}
}
