package feishu

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/shipmyagent/shipmyagent/adapters/platform"
	"github.com/shipmyagent/shipmyagent/adapters/platform/feishu/internal/api"
	"github.com/shipmyagent/shipmyagent/adapters/platform/internal/botkit"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
)

const (
	// kindForwards is the kind of a message that contains others, forwarded together.
	kindForwards = "merge_forward"
	// maxForwards is how many of them are passed on, maxForwarded the total length of their text,
	// in bytes, and maxForward the maximum content of one that is read.
	maxForwards  = 100
	maxForwarded = 32 << 10
	maxForward   = 16 << 10
	// forwardsTimeout bounds the request for them: the service waits three seconds for our answer.
	forwardsTimeout = 2 * time.Second
	// forwardsWithin is how old a message may be for the host to have the service send its event again because they are
	// not available yet. The service does so twice in this time, and later twice more.
	forwardsWithin = 30 * time.Minute
)

// forward is a message that was forwarded with others.
type forward struct {
	From     string    `json:"from,omitempty"`
	Created  string    `json:"create_time,omitempty"`
	Kind     string    `json:"message_type"`
	Content  string    `json:"content,omitempty"`
	Mentions []mention `json:"mentions,omitempty"`
}

// listing is a message and those that it contains, as the service lists them.
type listing struct {
	Items []listed `json:"items"`
}

// listed is a message as the service lists it.
type listed struct {
	ID      string `json:"message_id"`
	Upper   string `json:"upper_message_id"`
	Kind    string `json:"msg_type"`
	Created string `json:"create_time"`
	Sender  struct {
		ID string `json:"id"`
	} `json:"sender"`
	Body struct {
		Content string `json:"content"`
	} `json:"body"`
	Mentions []struct {
		Key  string `json:"key"`
		Name string `json:"name"`
	} `json:"mentions"`
}

// forwards requests the messages that a message contains, which are not part of the event. An error
// says that they are not available now.
func (p *Platform) forwards(ctx context.Context, id string) ([]forward, error) {
	ctx, cancel := context.WithTimeout(ctx, max(forwardsTimeout, p.opts.Patience))
	defer cancel()
	got, err := api.Get[listing](ctx, p.client, api.MessagePath(id), nil)
	if err != nil {
		p.log.Warn("the forwarded messages could not be read", "error", err)
		if e, ok := errors.AsType[*platform.Error](sendError(err)); ok && e.Retryable {
			return nil, err
		}
	}
	return forwardsOf(id, got.Items), nil
}

// forwardsOf returns the messages below one, in order and within the limits.
func forwardsOf(id string, items []listed) []forward {
	var out []forward
	for _, m := range items {
		if m.ID == id || m.Upper == "" || len(out) == maxForwards {
			continue
		}
		f := forward{From: botkit.Tidy(m.Sender.ID, botkit.MaxName), Created: m.Created, Kind: botkit.Tidy(m.Kind, 40)}
		if len(m.Body.Content) <= maxForward {
			f.Content = m.Body.Content
		}
		for _, x := range m.Mentions {
			f.Mentions = append(f.Mentions, mention{Key: x.Key, Name: x.Name})
		}
		out = append(out, f)
	}
	return out
}

// readForwards returns the text of everything that was forwarded. Files are only named, because the
// service does not permit downloading them.
func readForwards(msg message) said {
	var out strings.Builder
	out.WriteString(botkit.Placeholder("forwarded messages"))
	for i, f := range msg.Forwards {
		line := "\n" + cmp.Or(f.From, "somebody") + f.when() + ": " + strings.ReplaceAll(f.words(), "\n", "\n  ")
		if i == maxForwards || out.Len()+len(line) > maxForwarded {
			out.WriteString("\n" + botkit.Placeholder("more was forwarded"))
			break
		}
		out.WriteString(line)
	}
	return said{parts: []uimessage.Part{uimessage.Text{Text: out.String()}}, forwarded: true}
}

func (f forward) when() string {
	msg := message{Created: f.Created}
	if f.Created == "" {
		return ""
	}
	return " " + msg.time().Format(time.DateTime)
}

// words returns the text of a message, with placeholders for what is not text.
func (f forward) words() string {
	if f.Kind == kindForwards {
		return botkit.Placeholder("forwarded messages")
	}
	c := readContent(message{Kind: f.Kind, Content: f.Content, Mentions: f.Mentions})
	var all []string
	if text := (mapper{}).named(c.text, f.Mentions); text != "" {
		all = append(all, text)
	}
	for _, p := range c.parts {
		if _, isFile := platform.FileOf(p); isFile {
			continue
		}
		if t, ok := p.(uimessage.Text); ok {
			all = append(all, t.Text)
		}
	}
	return strings.Join(all, " ")
}
