package anthropictest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
)

// signer signs thinking with the key of a server, by an HMAC. It is valid for every server with the same
// key.
type signer string

func (k signer) sign(text string) string {
	h := hmac.New(sha256.New, []byte("anthropictest"+k))
	h.Write([]byte(text))
	return base64.StdEncoding.EncodeToString(h.Sum(nil))
}

// signed reports whether a thinking block is unchanged.
func (k signer) signed(b object) bool { return b.text("signature") == k.sign(b.text("thinking")) }

// thought identifies a block of thinking; it is empty for other blocks.
func thought(b object) string {
	kind := b.text("type")
	if kind == "thinking" || kind == "redacted_thinking" {
		return kind + " " + b.text("signature") + b.text("data")
	}
	return ""
}

// fingerprint is the thinking in an answer and whether it begins with it; it is empty without any.
func fingerprint(thoughts []string) string {
	all := strings.Join(thoughts, "")
	if all == "" {
		return ""
	}
	return strconv.FormatBool(thoughts[0] != "") + all
}

// verify checks the thinking in a request. The caller holds the lock.
func (s *Server) verify(c *checker, b wireBody) {
	for _, p := range b.pieces() {
		switch kind := p.block.text("type"); {
		case kind == "thinking" && !signer(s.key).signed(p.block):
			c.fault(ruleSignature, p.path, "Invalid `signature` in `thinking` block")
		case kind == "redacted_thinking" && !s.thoughts[thought(p.block)]:
			c.fault(ruleSignature, p.path, "Invalid `data` in `redacted_thinking` block")
		}
	}
	turns := b.turns()
	// A loop of calls and results is one assistant turn, and the thinking of all of it is needed.
	for i := len(turns) - 1; i > 0 && b.thinks(); i -= 2 {
		others := slices.DeleteFunc(slices.Clone(turns[i]), func(b object) bool { return b.text("type") == "tool_result" })
		if len(others) == len(turns[i]) || len(others) > 0 && i != len(turns)-1 {
			return
		}
		s.kept(c, turns[i-1])
	}
}

// turns are the contents of the messages; the service combines consecutive ones of one role.
func (b wireBody) turns() []content {
	var out []content
	for i, m := range b.Messages {
		if i == 0 || m.Role != b.Messages[i-1].Role {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], m.Content...)
	}
	return out
}

// kept requires the thinking with which calls were made. Chats may have used the same ids, so the thinking of any answer
// with a call of the id is accepted.
func (s *Server) kept(c *checker, blocks content) {
	var thoughts []string
	for _, b := range blocks {
		thoughts = append(thoughts, thought(b))
	}
	for _, b := range blocks {
		answers := s.answers[b.text("id")]
		switch {
		case len(answers) == 0, slices.Contains(answers, ""), slices.Contains(answers, fingerprint(thoughts)):
			continue
		case thoughts[0] == "":
			c.fault(ruleKept, "messages", "Expected `thinking` or `redacted_thinking`, but found `%s`. When `thinking` is enabled, a final `assistant` message must start with a thinking block", blocks[0].text("type"))
		default:
			c.fault(ruleKept, "messages", "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response")
		}
		return
	}
}
