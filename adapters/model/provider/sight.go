package provider

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/adapters/model/internal/protocol"
	"github.com/shipmyagent/shipmyagent/messages"
)

// maxRefused is how many files and blocks of thinking are remembered that a provider refused
// individually.
const maxRefused = 4096

// sight is what is known about the content that one model accepts. It is safe for concurrent use.
type sight struct {
	mu            sync.Mutex
	images, files bool
	refused       []string // links, and ids of thinking, oldest first
	version       int      // incremented by every change
}

func newSight(s Settings) *sight {
	return &sight{images: !s.NoImages, files: !s.NoFiles}
}

func (s *sight) Takes(mediaType, link string) bool {
	if mediaType == messages.MimeText {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if mediaType == messages.MimePDF && !s.files || mediaType != messages.MimePDF && !s.images {
		return false
	}
	return !slices.Contains(s.refused, link)
}

func (s *sight) TakesThought(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !slices.Contains(s.refused, id)
}

func (s *sight) Revision() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}

// refusal is what a provider's refusal says about the content of a request. It is remembered under its name, unless it
// is about files or blocks of thinking.
type refusal string

const (
	refusalOther     refusal = ""         // it is about a file, perhaps
	refusalImages    refusal = "images"   // the model accepts no images
	refusalFiles     refusal = "files"    // the model accepts no documents
	refusalThoughts  refusal = "thoughts" // the model does not know the thinking as its own, or wants none back
	refusalUnthought refusal = protocol.Unthought
)

// plainRefusal is a refusal whose words say what the service wants instead, and what the log says of it.
type plainRefusal struct {
	refusal
	words []string
	said  string
}

func plainRefusals() []plainRefusal {
	return []plainRefusal{
		{protocol.CallIDs, []string{idTooLong, "tool call id was"}, "calls get ids of nine letters and digits, since the service refuses those of other services"},
		{protocol.Unsigned, []string{"missing a thought_signature"}, "calls of other services get what stands for a signature"},
		{protocol.Signed, []string{protocol.Signed}, "calls are sent without the signatures of another service"},
		{protocol.Unread, []string{"unexpected role 'user' after role 'tool'"}, "results are followed by an answer, since the service refuses a message there"},
		{protocol.MaxTokens, []string{"use 'max_completion_tokens'"}, "the limit of an answer is in max_completion_tokens, since the service wants it there"},
		{protocol.StreamOptions, []string{protocol.StreamOptions}, "requests are without stream_options, since the service does not know them"},
	}
}

// idTooLong is how OpenAI refuses the id of a call or of a result.
const idTooLong = "id': string too long"

// refusalOf interprets the refusal of a request; ok is false if the reason has nothing to do with what can be changed
// about it.
func refusalOf(err error, sent protocol.Shown) (refusal, bool) {
	e, ok := errors.AsType[*model.Error](err)
	if !ok {
		return refusalOther, false
	}
	words := strings.ToLower(e.Message)
	for _, r := range plainRefusals() {
		if e.Reason == model.ReasonBadRequest && slices.Contains(sent.Also, string(r.refusal)) && containsAny(words, r.words...) {
			return r.refusal, true
		}
	}
	if e.Reason == model.ReasonBadRequest && containsAny(words, protocol.Thought) {
		switch back := containsAny(words, "passed back", "pass back", "is missing"); {
		case back && slices.Contains(sent.Also, protocol.Unthought):
			return refusalUnthought, true
		case !back && slices.Contains(sent.Thoughts, protocol.Thought):
			return refusalThoughts, true
		}
	} else if len(sent.Thoughts) > 0 && !slices.Contains(sent.Thoughts, protocol.Thought) && (e.Reason == model.ReasonBadRequest && containsAny(words, "thinking", "encrypted content", "encrypted_content", "'reasoning'", "duplicate item found with id rs_") ||
		containsAny(words, "items are not persisted")) {
		return refusalThoughts, true
	}
	if sent.PDF && containsAny(words, "pdf", "`file`", "'file'", "\"file\"", "type file", "file input", "file content", "file_data", "document input", "documents are not", "does not support file", "support files", "不支持文件", "不支持 pdf") {
		return refusalFiles, true
	}
	if sent.Image && containsAny(words, "image_url", "image input", "image content", "images are not", "support image", "support vision", "vision is not", "multimodal", "multi-modal", "mmproj",
		"no image", "not a vision", "non-vision", "image is not", "content must be a string", "expected a string", "invalid type: sequence", "text-only", "only text", "only support text",
		"不支持图", "不支持多模态", "不支持视觉", "图片输入", "仅支持文本") {
		return refusalImages, true
	}
	return refusalOther, e.Reason == model.ReasonBadRequest && len(sent.Links) > 0
}

// learn records a refusal. It reports whether this changes future requests.
func (s *sight) learn(why refusal, sent protocol.Shown) (changed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch why {
	case refusalImages:
		changed, s.images = s.images, false
	case refusalFiles:
		changed, s.files = s.files, false
	case refusalOther:
		changed = s.refuse(sent.Links)
	case refusalThoughts:
		changed = s.refuse(sent.Thoughts)
	default:
		changed = s.refuse([]string{string(why)})
	}
	if changed {
		s.version++
	}
	return changed
}

// refuse remembers what was refused, and reports whether any of it is new. The caller has the lock.
func (s *sight) refuse(list []string) (changed bool) {
	for _, id := range list {
		if !slices.Contains(s.refused, id) {
			s.refused, changed = append(s.refused, id), true
		}
	}
	s.refused = s.refused[max(0, len(s.refused)-maxRefused):]
	return changed
}

// unlearn removes the record of files that were not the cause of a refusal.
func (s *sight) unlearn(links []string) {
	if len(links) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused = slices.DeleteFunc(s.refused, func(link string) bool { return slices.Contains(links, link) })
	s.version++
}

// ask calls a model. If it refuses the request because of its pictures, documents or thinking, it
// gets the request once more without them. That is remembered: later requests omit them, and tell
// the model that it cannot see the pictures and documents.
func (e *endpoint) ask(ctx context.Context, req model.Request, s *sink, hasNext bool) error {
	var blamed []string // without a clear statement
	for range 10 {      // with everything, and after each kind of refusal
		known := e.sight.Revision()
		err := e.call(ctx, req, s, hasNext)
		if err == nil || s.started || ctx.Err() != nil {
			return err
		}
		sent := e.protocol.Shown(req)
		why, about := refusalOf(err, sent)
		learned := about && e.sight.learn(why, sent)
		if !learned && (e.sight.Revision() == known || model.ReasonOf(err) != model.ReasonBadRequest) { // another call has learned nothing either
			e.sight.unlearn(blamed) // they were not the cause
			return err
		}
		if why == refusalOther && learned {
			blamed = sent.Links
		}
		req.Memo.Take() // the encoded messages contain it
		e.log.WarnContext(ctx, "the model refused a part of a request: it is asked once more without it", "request_id", req.ID, "files", len(sent.Links), "thoughts", len(sent.Thoughts),
			"from_now_on", saidOf(why), "error", err)
	}
	err := e.call(ctx, req, s, hasNext)
	if err != nil && !s.started {
		e.sight.unlearn(blamed)
	}
	return err
}

func saidOf(why refusal) string {
	switch why {
	case refusalImages:
		return "no images are sent to this model, only notes; set images to false for it under llm.models to leave out this first try"
	case refusalFiles:
		return "no PDF files are sent to this model, only notes; set files to false for it under llm.models to leave out this first try"
	case refusalThoughts:
		return "the thinking of these turns is not sent back, since the service refuses it"
	case refusalUnthought:
		return "answers without thinking are sent back with an empty one, since the service wants it"
	case refusalOther:
		return "these files are left out"
	}
	list := plainRefusals()
	return list[slices.IndexFunc(list, func(r plainRefusal) bool { return r.refusal == why })].said
}
