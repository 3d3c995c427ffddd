package provider

import (
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/model"
	"github.com/shipmyagent/shipmyagent/messages/modelmessage"
)

// Choice is a model with a name by which requests ask for it.
type Choice struct {
	Name string
	Endpoint
}

// Choices is a group of models, of which each request names one. A request without a name, or
// with an unknown one, is for the main model. It is safe for concurrent use.
type Choices struct {
	main   *Model
	named  map[string]*Model
	others []*endpoint // of those with a name
}

var _ model.Model = (*Choices)(nil)

// NewChoices returns the main model, which the options describe, and others. When one of them
// fails, the main model and its fallbacks are tried; each address has one breaker.
func NewChoices(o Options, others []Choice) (*Choices, error) {
	list := append([]Endpoint{o.Endpoint}, o.Fallbacks...)
	main := len(list)
	for _, c := range others {
		list = append(list, c.Endpoint)
	}
	all, err := newEndpoints(o, list)
	if err != nil {
		return nil, err
	}
	single := make(map[string]*endpoint, len(others))
	cheaper := func() *endpoint {
		if o.Meter == nil {
			return nil
		}
		return single[o.Meter.Cheaper()]
	}
	c := &Choices{&Model{all[:main:main], cheaper}, make(map[string]*Model, len(others)), all[main:]}
	for i, other := range others {
		single[other.Name] = all[main+i]
		c.named[other.Name] = &Model{append([]*endpoint{all[main+i]}, all[:main]...), cheaper}
	}
	return c, nil
}

// Stream implements [model.Model].
func (c *Choices) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	m, standsIn := c.of(req)
	if standsIn {
		req.Effort = "" // it was chosen for the other model
	}
	return m.Stream(ctx, req)
}

// of returns the model of a request, and whether it replaces one that accepts no pictures.
func (c *Choices) of(req model.Request) (m *Model, standsIn bool) {
	m, ok := c.named[req.Model]
	if !ok {
		m = c.main
	}
	if seeing, ok := c.named[model.Vision]; ok && !m.sees() && asksAboutPicture(req.Messages) {
		return seeing, true
	}
	return m, false
}

// sees reports whether a model takes pictures.
func (m *Model) sees() bool {
	s := m.endpoints[0].sight
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.images
}

// asksAboutPicture reports whether people have sent a picture since the last answer. The steps of an
// answer that has begun count as before it, so that one model gives all of it.
func asksAboutPicture(messages []modelmessage.Message) bool {
	for _, m := range slices.Backward(messages) {
		if m.Role == modelmessage.RoleAssistant && !slices.ContainsFunc(m.Parts, isCall) {
			return false
		}
		if m.Role == modelmessage.RoleUser && slices.ContainsFunc(m.Parts, isPicture) {
			return true
		}
	}
	return false
}

func isCall(p modelmessage.Part) bool {
	_, ok := p.(modelmessage.ToolCall)
	return ok
}

func isPicture(p modelmessage.Part) bool {
	switch p := p.(type) {
	case modelmessage.Image:
		return true
	case modelmessage.File:
		return strings.HasPrefix(p.MediaType, "image/")
	default:
		return false
	}
}

// Health returns the state of all models: the main model, its fallbacks, and the others.
func (c *Choices) Health() []Health { return append(c.main.Health(), healthOf(c.others)...) }
