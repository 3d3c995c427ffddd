package feishutest

import (
	"encoding/json"
	"net/http"
	"time"
)

const (
	// feishuCardRate is how many times per second a card may be changed, feishuAppRate and
	// feishuAppMinute how often all cards of an app.
	feishuCardRate  = 10
	feishuAppRate   = 50
	feishuAppMinute = 1000
	// feishuStreams is how long a card may stream before the service ends the stream.
	feishuStreams = 10 * time.Minute
)

// feishuCard is a card that is changed by its own id.
type feishuCard struct {
	id        string
	content   map[string]any
	streaming bool
	sequence  float64
	sent      bool
	opened    time.Time // since when it streams
	writes    []time.Time
}

// since counts the times that are at most d before now.
func since(times []time.Time, now time.Time, d time.Duration) (n int) {
	for _, t := range times {
		if now.Sub(t) < d {
			n++
		}
	}
	return n
}

func (a *API) createCard(r *http.Request, body map[string]any) (any, *feishuRefusal) {
	data := stringOf(body["data"])
	content := decodeCard(data)
	config, _ := content["config"].(map[string]any)
	_, _, ok := walkCard(content)
	switch {
	case body["type"] != "card_json" || content["schema"] != "2.0" || !ok:
		return nil, feishuNo(300301, "card content is not valid")
	case r.ContentLength > feishuPost:
		return nil, feishuNo(300305, "card content is too long")
	}
	streaming, _ := config["streaming_mode"].(bool)
	c := &feishuCard{id: a.newID("7"), content: content, streaming: streaming, opened: a.now()}
	a.cards[c.id] = c
	return map[string]any{"card_id": c.id}, nil
}

// attachCard makes a message show a card that exists already. A card can be sent only once.
func (a *API) attachCard(m *Message) *feishuRefusal {
	c := decodeCard(m.Content)
	if m.Kind != "interactive" || c["type"] != "card" {
		return nil
	}
	data, _ := c["data"].(map[string]any)
	card := a.cards[stringOf(data["card_id"])]
	switch {
	case card == nil:
		return feishuNo(230099, "Failed to create card content, ext=ErrCode: 300304; ErrMsg: card does not exist")
	case card.sent:
		return feishuNo(230099, "Failed to create card content, ext=ErrCode: 300306; ErrMsg: a card can be sent once")
	}
	card.sent, m.card = true, card
	return nil
}

func (a *API) convertCard(_ *http.Request, body map[string]any) (any, *feishuRefusal) {
	m := a.messages[stringOf(body["message_id"])]
	if m == nil || m.card == nil {
		return nil, feishuNo(300304, "the message holds no card")
	}
	return map[string]any{"card_id": m.card.id}, nil
}

// cardFor checks what all changes of a card have in common.
func (a *API) cardFor(r *http.Request, body map[string]any) (*feishuCard, *feishuRefusal) {
	c := a.cards[r.PathValue("id")]
	sequence, ok := body["sequence"].(float64)
	switch {
	case c == nil:
		return nil, feishuNo(300304, "card does not exist")
	case !ok || sequence <= 0 || sequence > 1<<31-1 || sequence != float64(int64(sequence)):
		return nil, feishuNo(99992402, "field validation failed: sequence")
	case sequence <= c.sequence:
		return nil, feishuNo(300317, "sequence number compare failed")
	}
	now := a.now()
	c.streaming = c.streaming && now.Sub(c.opened) < feishuStreams
	all := a.rates["cards"]
	if since(c.writes, now, time.Second) >= feishuCardRate || since(all, now, time.Second) >= feishuAppRate || since(all, now, time.Minute) >= feishuAppMinute {
		return nil, &feishuRefusal{status: http.StatusTooManyRequests, code: 99991400, text: "request trigger frequency limit", reset: 1}
	}
	a.rates["cards"] = append(all, now)
	c.writes, c.sequence = append(c.writes, now), sequence
	return c, nil
}

func (a *API) writeCard(r *http.Request, body map[string]any) (any, *feishuRefusal) {
	c, no := a.cardFor(r, body)
	if no != nil {
		return nil, no
	}
	content, ok := body["content"].(string)
	if !ok || content == "" {
		return nil, feishuNo(99992402, "field validation failed: content")
	}
	if !c.streaming {
		return nil, feishuNo(300309, "streaming mode is closed")
	}
	inner, _ := c.content["body"].(map[string]any)
	elements, _ := inner["elements"].([]any)
	for _, e := range elements {
		if m, _ := e.(map[string]any); m["element_id"] == r.PathValue("element") && m["tag"] == "markdown" {
			m["content"] = content
			return map[string]any{}, nil
		}
	}
	return nil, feishuNo(300313, "element not found")
}

func (a *API) setCard(r *http.Request, body map[string]any) (any, *feishuRefusal) {
	c, no := a.cardFor(r, body)
	if no != nil {
		return nil, no
	}
	var settings struct {
		Config map[string]any `json:"config"`
	}
	if json.Unmarshal([]byte(stringOf(body["settings"])), &settings) != nil || settings.Config == nil {
		return nil, feishuNo(300302, "card settings are not valid")
	}
	if streaming, ok := settings.Config["streaming_mode"].(bool); ok {
		if c.streaming = streaming; streaming {
			c.opened = a.now()
		}
	}
	return map[string]any{}, nil
}

// CardSequence is the sequence number of the newest change of the card that a message shows.
func (a *API) CardSequence(message string) int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	if m := a.messages[message]; m != nil && m.card != nil {
		return int64(m.card.sequence)
	}
	return 0
}
