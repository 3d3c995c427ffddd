package openai

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages"
)

// Takes says whether a model is sent a kind of file.
type Takes string

// The values of [Takes]. Auto goes by the model's name; a model that is not known is
// sent the file, and its refusal is remembered.
const (
	TakesAuto Takes = ""
	TakesYes  Takes = "true"
	TakesNo   Takes = "false"
)

// maxRefused is how many files are remembered that a provider refused for themselves.
const maxRefused = 4096

// sight is what is known of the files that one model takes. It is safe for concurrent use.
type sight struct {
	mu            sync.Mutex
	images, files bool
	refused       []string // links, oldest first
	version       int      // grows with every change
}

func newSight(s Settings, name string) *sight {
	takes := func(set Takes, known func(string) bool) bool {
		switch set {
		case TakesYes:
			return true
		case TakesNo:
			return false
		case TakesAuto:
		}
		return known(strings.ToLower(name))
	}
	return &sight{images: takes(s.Images, seesImages), files: takes(s.Files, readsPDF)}
}

// blind are families of models, by parts of their names, that take text alone; sighted
// are members of them that see. A model that is in neither list is asked.
var (
	blind = []string{ //nolint:gochecknoglobals // a table
		"deepseek-chat", "deepseek-reasoner", "deepseek-v3", "deepseek-r1", "deepseek-coder", "gpt-3.5", "gpt-oss", "o1-mini", "o1-preview", "o3-mini",
		"llama-2", "llama-3.1", "llama-3.3", "llama3.1", "llama3.3", "mixtral", "mistral-7b", "mistral-nemo", "codestral", "devstral-small-2505",
		"qwen-turbo", "qwen2.5-", "qwen3-", "qwq", "qwen-max", "qwen-coder", "glm-4.5", "glm-4.6", "glm-4-", "kimi-k2-", "moonshot-v1-8k", "moonshot-v1-32k", "moonshot-v1-128k",
		"command-r", "phi-2", "phi-3-mini", "phi-4-mini", "gemma-2", "gemma2", "minimax-m1", "minimax-m2", "ernie-4.5-21b", "yi-34b", "yi-large", "baichuan",
	}
	sighted = []string{"vl", "vision", "omni", "glm-4.5v", "glm-4.6v", "multimodal", "deepseek-ocr", "-v-"} //nolint:gochecknoglobals // a table
	// noPDF are models and APIs of which it is known that they take no documents.
	noPDF = []string{ //nolint:gochecknoglobals // a table
		"deepseek", "qwen", "glm", "kimi", "moonshot", "llama", "mistral", "mixtral", "codestral", "pixtral", "grok", "phi-", "gemma", "command-", "minimax", "gpt-4-turbo", "gpt-4-vision",
	}
)

func seesImages(name string) bool {
	return !containsAny(name, blind...) || containsAny(name, sighted...)
}

func readsPDF(name string) bool { return seesImages(name) && !containsAny(name, noPDF...) }

// takes reports whether a stored file is sent.
func (s *sight) takes(mediaType, link string) bool {
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

// revision is another one after every change. Without sight nothing changes.
func (s *sight) revision() int {
	if s == nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}

// refusal is what a provider's refusal says of the files of a request.
type refusal int

const (
	refusalOther  refusal = iota // it may be about anything
	refusalImages                // the model takes no images
	refusalFiles                 // the model takes no documents
)

// refusalOf reads why a request with files was refused; false: for a reason that has
// nothing to do with them.
func refusalOf(err error, sent shown) (refusal, bool) {
	e, ok := errors.AsType[*model.Error](err)
	if !ok || len(sent.links) == 0 {
		return refusalOther, false
	}
	words := strings.ToLower(e.Message)
	if sent.pdf && containsAny(words, "pdf", "`file`", "'file'", "\"file\"", "type file", "file input", "file content", "file_data", "document input", "documents are not", "does not support file", "support files", "不支持文件", "不支持 pdf") {
		return refusalFiles, true
	}
	if sent.image && containsAny(words, "image_url", "image input", "image content", "images are not", "support image", "support vision", "vision is not", "multimodal", "multi-modal", "mmproj",
		"no image", "not a vision", "non-vision", "image is not", "content must be a string", "expected a string", "invalid type: sequence", "text-only", "only text", "only support text",
		"不支持图", "不支持多模态", "不支持视觉", "图片输入", "仅支持文本") {
		return refusalImages, true
	}
	return refusalOther, e.Reason == model.ReasonBadRequest
}

// learn remembers a refusal. It reports whether requests are other ones from now on.
func (s *sight) learn(why refusal, sent shown) (changed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case why == refusalImages && s.images:
		s.images, changed = false, true
	case why == refusalFiles && s.files:
		s.files, changed = false, true
	case why == refusalOther:
		for _, link := range sent.links {
			if !slices.Contains(s.refused, link) {
				s.refused, changed = append(s.refused, link), true
			}
		}
		s.refused = s.refused[max(0, len(s.refused)-maxRefused):]
	}
	if changed {
		s.version++
	}
	return changed
}

// unlearn takes files back that were no reason for a refusal.
func (s *sight) unlearn(links []string) {
	if len(links) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused = slices.DeleteFunc(s.refused, func(link string) bool { return slices.Contains(links, link) })
	s.version++
}

// shown are the stored files that a request holds.
type shown struct {
	links      []string
	image, pdf bool
}

// ask asks a model. One that refuses the request because of its pictures or documents is
// asked once more without them, which is remembered: later requests leave them out, and
// the model reads in their place that it cannot see them.
func (e *endpoint) ask(ctx context.Context, req model.Request, s *sink) error {
	var blamed []string // without a clear word
	for range 3 {       // with all, without images, without documents
		sent, err := e.call(ctx, req, s)
		if err == nil || s.started || ctx.Err() != nil {
			return err
		}
		why, about := refusalOf(err, sent)
		if !about || !e.writer.sight.learn(why, sent) {
			e.writer.sight.unlearn(blamed) // it was something else
			return err
		}
		if why == refusalOther {
			blamed = sent.links
		}
		req.Memo.Take() // what was encoded shows the files
		e.log.WarnContext(ctx, "the model refused a request with files: it is asked once more without them", "request_id", req.ID, "files", len(sent.links),
			"from_now_on", saidOf(why), "error", err)
	}
	_, err := e.call(ctx, req, s)
	if err != nil && !s.started {
		e.writer.sight.unlearn(blamed)
	}
	return err
}

func saidOf(why refusal) string {
	switch why {
	case refusalImages:
		return "no images are sent to this model, only notes; set images to false for it under llm.models to leave out this first try"
	case refusalFiles:
		return "no PDF files are sent to this model, only notes; set files to false for it under llm.models to leave out this first try"
	case refusalOther:
	}
	return "these files are left out"
}
