package tokens

import (
	"bufio"
	"compress/flate"
	"embed"
	"errors"
	"io"
)

// The vocabularies: all tokens in the order of their ranks, each followed by the byte end, compressed. Their test makes
// these files from those of the tokenizer's authors, which are four times as large.
//
//go:embed vocabulary
var vocabularies embed.FS

// end follows each token. As it begins no character of UTF-8, the only token with it is the byte itself, which is written
// as an empty one.
const end = 0xff

// vocabulary returns the rank of each token of an encoding.
func vocabulary(e Encoding) (map[string]int, error) {
	f, err := vocabularies.Open("vocabulary/" + string(e))
	if err != nil {
		return nil, err
	}
	return ranks(bufio.NewReader(flate.NewReader(f)))
}

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
