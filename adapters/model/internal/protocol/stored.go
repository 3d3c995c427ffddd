package protocol

import (
	"cmp"
	"context"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

// noteGone is what the model reads instead of a stored file that cannot be read.
const noteGone = "[a file that is no longer kept]"

// Shown is what a request contains that its service may refuse.
type Shown struct {
	Links      []string // of stored files
	Image, PDF bool     // what they are
	Thoughts   []string // ids of blocks of thinking
	// Also is what else of the request the service may refuse: what [Unthought] and the constants after it name.
	Also []string
}

// Other values that are passed to [Sight.TakesThought] in chat completions, where thinking has no ids.
const (
	Thought       = "reasoning_content"         // answers are sent back with their thinking
	Unthought     = "no reasoning_content"      // or without
	CallIDs       = "ids of calls"              // calls have any ids
	Unsigned      = "calls without a signature" // and may be of other services
	Signed        = "extra_content"             // or have their signatures
	Unread        = "a message behind results"  // a user's message directly follows results
	MaxTokens     = "max_tokens"                // the field
	StreamOptions = "stream_options"            // the field
)

// TakesThought is [Sight.TakesThought]; without a sight everything is sent.
func (p *Prompter) TakesThought(id string) bool { return p.Sight == nil || p.Sight.TakesThought(id) }

// stored replaces the stored files of a user message by their bytes or, if the model does not
// accept them, by their notes.
func (p *Prompter) stored(ctx context.Context, m Message) (Message, error) {
	for i, part := range m.Parts {
		file, ok := part.Part.(modelmessage.File)
		if !ok || part.File == nil || !isStored(file) {
			continue
		}
		if !p.shows(file) {
			m.Parts[i] = Part{Part: modelmessage.Text{Text: cmp.Or(messages.NoteOf(file.ProviderOptions), noteGone)}}
			continue
		}
		data, err := p.Load(ctx, file.Data)
		if ctx.Err() != nil {
			return m, context.Cause(ctx)
		}
		if err != nil {
			m.Parts[i] = Part{Part: modelmessage.Text{Text: noteGone}}
			continue
		}
		m.Parts[i].File = &File{MediaType: file.MediaType, Filename: file.Filename, Bytes: data}
	}
	return m, nil
}

func isStored(f modelmessage.File) bool {
	_, _, stored := messages.PictureOf(f.Data)
	return stored
}

func (p *Prompter) shows(f modelmessage.File) bool {
	return p.Load != nil && p.Sight != nil && p.Sight.Takes(f.MediaType, f.Data)
}

func (p *Prompter) revision() int {
	if p.Sight == nil {
		return 0
	}
	return p.Sight.Revision()
}

// Shown returns the stored files of a conversation that are shown to the model.
func (p *Prompter) Shown(req model.Request) (out Shown) {
	for _, m := range req.Messages {
		if m.Role != modelmessage.RoleUser {
			continue
		}
		for _, part := range m.Parts {
			f, ok := part.(modelmessage.File)
			if !ok || f.MediaType == messages.MimeText || !isStored(f) || !p.shows(f) {
				continue
			}
			out.Links = append(out.Links, f.Data)
			out.PDF = out.PDF || f.MediaType == messages.MimePDF
			out.Image = out.Image || f.MediaType != messages.MimePDF
		}
	}
	return out
}
