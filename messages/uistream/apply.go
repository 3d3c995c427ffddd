package uistream

import (
	"encoding/json"
	"slices"

	"github.com/shipmyagent/shipmyagent/messages/internal/rawjson"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

func (c Start) apply(r *Reducer) (bool, error) {
	if id, ok := c.MessageID.Get(); ok {
		if r.reader && id != r.msg.ID {
			r.reset(id)
		}
		r.msg.ID = id
	}
	merged, err := r.mergeMetadata(c.Metadata)
	return merged || c.MessageID.Set && err == nil, err
}

func (c Finish) apply(r *Reducer) (bool, error) {
	return r.mergeMetadata(c.Metadata)
}

func (c MessageMetadata) apply(r *Reducer) (bool, error) { return r.mergeMetadata(c.Metadata) }

func (Abort) apply(*Reducer) (bool, error) { return false, nil }

func (StartStep) apply(r *Reducer) (bool, error) {
	r.msg.Parts = append(r.msg.Parts, uimessage.StepStart{})
	r.step = len(r.msg.Parts)
	return false, nil
}

func (FinishStep) apply(r *Reducer) (bool, error) {
	r.settle()
	clear(r.texts)
	clear(r.reasonings)
	return false, nil
}

func (Error) apply(*Reducer) (bool, error) { return false, nil }

func (Unknown) apply(*Reducer) (bool, error) { return false, nil }

func (c SourceURL) apply(r *Reducer) (bool, error) {
	return r.show(uimessage.SourceURL{SourceID: c.SourceID, URL: c.URL, Title: c.Title, ProviderMetadata: c.ProviderMetadata})
}

func (c SourceDocument) apply(r *Reducer) (bool, error) {
	return r.show(uimessage.SourceDocument{
		SourceID: c.SourceID, MediaType: c.MediaType, Title: c.Title, Filename: c.Filename, ProviderMetadata: c.ProviderMetadata,
	})
}

func (c File) apply(r *Reducer) (bool, error) {
	return r.show(uimessage.File{MediaType: c.MediaType, URL: c.URL, ProviderMetadata: rawjson.NotNull(c.ProviderMetadata)})
}

// apply keeps a data chunk as a part, or in the place of the one with its id.
func (c Data) apply(r *Reducer) (bool, error) {
	if c.Transient.Value {
		return false, nil
	}
	if c.ID.Set {
		for i, p := range r.msg.Parts {
			if old, ok := p.(uimessage.Data); ok && old.Name == c.Name && old.ID == c.ID {
				old.Data = c.Data
				r.msg.Parts[i] = old
				return true, nil
			}
		}
	}
	part := uimessage.Data{Name: c.Name, ID: c.ID, Data: c.Data, Extra: c.Extra}
	if c.Transient.Set {
		part.Extra = append(slices.Clone(c.Extra), uimessage.Member{Name: "transient", Value: json.RawMessage("false")})
	}
	return r.show(part)
}
