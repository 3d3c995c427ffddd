package provider

import (
	"cmp"
	"context"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

// noteGone is what the model reads instead of a stored file that cannot be read.
const noteGone = "[a file that is no longer kept]"

// stored replaces the stored files of a user message by their bytes or, if the model does not
// accept them, by their notes.
func (e *encoder) stored(ctx context.Context, m promptMessage) (promptMessage, error) {
	for i, p := range m.parts {
		file, ok := p.part.(modelmessage.File)
		if _, _, link := messages.PictureOf(file.Data); !ok || !link || p.file == nil {
			continue
		}
		note := modelmessage.Text{Text: cmp.Or(messages.NoteOf(file.ProviderOptions), noteGone)}
		if !e.showsStored(file) {
			m.parts[i] = promptPart{part: note}
			continue
		}
		data, err := e.load(ctx, file.Data)
		if ctx.Err() != nil {
			return m, context.Cause(ctx)
		}
		if err != nil {
			m.parts[i] = promptPart{part: modelmessage.Text{Text: noteGone}}
			continue
		}
		m.parts[i].file = &promptFile{mediaType: file.MediaType, filename: file.Filename, bytes: data}
	}
	return m, nil
}

func (e *encoder) showsStored(f modelmessage.File) bool {
	return e.load != nil && e.sight != nil && e.sight.takes(f.MediaType, f.Data)
}

// shownIn returns the stored files of a conversation that are shown to the model.
func (w *bodyWriter) shownIn(list []modelmessage.Message) (out shown) {
	for _, m := range list {
		if m.Role != modelmessage.RoleUser {
			continue
		}
		for _, p := range m.Parts {
			f, ok := p.(modelmessage.File)
			if _, _, link := messages.PictureOf(f.Data); !ok || !link || f.MediaType == messages.MimeText || !w.showsStored(f) {
				continue
			}
			out.links = append(out.links, f.Data)
			out.pdf = out.pdf || f.MediaType == messages.MimePDF
			out.image = out.image || f.MediaType != messages.MimePDF
		}
	}
	return out
}
