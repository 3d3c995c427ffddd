package tokens

import (
	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

const (
	// turnPrice is the cost of a turn in addition to its words: role, boundaries, and the header of a
	// user turn.
	turnPrice = 48
	// callPrice is the cost of a call and its result in addition to names and contents.
	callPrice = 24
	// filePrice is the cost of a file: models do not read its bytes as text.
	filePrice = 1 << 10
)

// Turn is the cost of a turn, given a measure of texts: [Bound], or a counter's.
func Turn(m uimessage.Message, measure func(text string) int) int {
	n := turnPrice
	for _, p := range m.Parts {
		switch p := p.(type) {
		case uimessage.Text:
			n += measure(p.Text)
		case uimessage.Reasoning:
			n += measure(p.Text)
		case uimessage.Tool:
			n += pictures(messages.PicturesOf(p.ResultProviderMetadata))
			n += callPrice + measure(p.Name) + measure(string(p.Input)) + measure(string(p.RawInput)) + measure(string(p.Output)) + measure(p.ErrorText.Value)
		case uimessage.File:
			if own := messages.PicturesOf(p.ProviderMetadata); len(own) > 0 {
				n += callPrice + pictures(own)
			} else {
				n += filePrice
			}
		case uimessage.Data:
			if f, ok := platform.FileOf(p); ok && f.Picture != nil {
				n += pictures([]messages.Picture{*f.Picture})
			}
		case uimessage.Unknown, uimessage.SourceURL, uimessage.SourceDocument, uimessage.StepStart:
		}
	}
	return n
}

// pictures is the cost of stored pictures. It does not depend on their bytes: models count the area
// of an image and the pages of a document, which its size approximates.
func pictures(list []messages.Picture) (n int) {
	const perToken, documentPart, mostParts = 750, 64 << 10, 32 // pixels, bytes of a page
	for _, p := range list {
		switch {
		case p.Path == "":
		case p.Mime == messages.MimeText:
			n += int(p.Bytes) // more than any text of that size takes
		case p.Mime == messages.MimePDF:
			n += filePrice * int(min(max(p.Bytes/documentPart, 1), mostParts))
		default:
			n += max(filePrice/4, p.Width*p.Height/perToken)
		}
	}
	return n
}

// Correct scales a count by what a model reported for a request that was counted the same way,
// because models have other vocabularies. An implausible report, more than twice or less than half
// of the count, is limited to twice or half.
func Correct(n int, reported, counted int64) int {
	if reported <= 0 || counted <= 0 {
		return n
	}
	reported = min(max(reported, counted/2), 2*counted)
	return int(int64(n) * reported / counted)
}
