package provider

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/shipmyagent/shipmyagent/adapters/model/modeltest"
)

type (
	object = map[string]any
	events = []modeltest.WireEvent
	change = func(events) events
)

// edit changes the data of every event but the end mark. Events for which f returns false are left
// out.
func edit(f func(o object) bool) change {
	return func(list events) (out events) {
		for _, e := range list {
			var o object
			if json.Unmarshal([]byte(e.Data), &o) != nil {
				out = append(out, e)
				continue
			}
			if f(o) {
				out = append(out, modeltest.WireEvent{Name: e.Name, Data: encoded(o)})
			}
		}
		return out
	}
}

func encoded(o object) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(o) // what was decoded always encodes
	return strings.TrimSpace(b.String())
}

// both makes one change after the other.
func both(first, second change) change {
	return func(list events) events { return second(first(list)) }
}

// doubled sends, before each event, the same one after a change. If the change returns false, there
// is none.
func doubled(f func(o object) bool) change {
	return func(list events) (out events) {
		for _, e := range list {
			out = append(append(out, edit(f)(events{e})...), e)
		}
		return slices.CompactFunc(out, func(a, b modeltest.WireEvent) bool { return a == b })
	}
}

// repeated sends the last events twice.
func repeated(n int) change {
	return func(list events) events { return append(list, list[len(list)-n:]...) }
}

// begun sends the first event twice.
func begun(list events) events { return append(events{list[0]}, list...) }

// inTurns sends the arguments of calls in two pieces each, the first ones of all calls first. The
// function returns the object with a piece, and the rank of an event: 0 if it is not about a call.
func inTurns(piece func(o object) (owner object, name string), rank func(o object) int) change {
	return func(list events) events {
		list = halved(list, piece)
		of := func(e modeltest.WireEvent) int {
			var o object
			_ = json.Unmarshal([]byte(e.Data), &o) // the end mark has no rank
			if half, ok := o["half"].(float64); ok {
				return 2 + int(half)
			}
			return rank(o)
		}
		first := slices.IndexFunc(list, func(e modeltest.WireEvent) bool { return of(e) > 0 })
		last := len(list)
		for of(list[last-1]) == 0 {
			last--
		}
		slices.SortStableFunc(list[first:last], func(a, b modeltest.WireEvent) int { return cmp.Compare(of(a), of(b)) })
		return list
	}
}

// typed calls f for events whose type begins or ends so.
func typed(kind string, f func(o object) bool) func(o object) bool {
	return func(o object) bool {
		t := textIn(o, "type")
		return !strings.HasPrefix(t, kind) && !strings.HasSuffix(t, kind) || f(o)
	}
}

func dropped(object) bool { return false }

func textIn(o object, name string) string {
	text, _ := o[name].(string)
	return text
}

// member returns an object in an object; it may be nil.
func member(o object, name string) object {
	m, _ := o[name].(object)
	return m
}

// without deletes members wherever they are.
func without(names ...string) change {
	var remove func(v any)
	remove = func(v any) {
		switch v := v.(type) {
		case object:
			for _, name := range names {
				delete(v, name)
			}
			for _, inner := range v {
				remove(inner)
			}
		case []any:
			for _, inner := range v {
				remove(inner)
			}
		}
	}
	return edit(func(o object) bool { remove(o); return true })
}

// replaced replaces text in the names and data of the events.
func replaced(pairs ...string) change {
	return func(list events) (out events) {
		r := strings.NewReplacer(pairs...)
		for _, e := range list {
			out = append(out, modeltest.WireEvent{Name: r.Replace(e.Name), Data: r.Replace(e.Data)})
		}
		return out
	}
}

// halved sends pieces in two halves, which are numbered. A piece of one character belongs to the
// second one.
func halved(list events, piece func(o object) (owner object, name string)) (out events) {
	for _, e := range list {
		var o object
		_ = json.Unmarshal([]byte(e.Data), &o) // the end mark has no pieces
		owner, name := piece(o)
		text := textIn(owner, name)
		if text == "" {
			out = append(out, e)
			continue
		}
		for i, half := range []string{text[:len(text)/2], text[len(text)/2:]} {
			owner[name], o["half"] = half, i
			out = append(out, modeltest.WireEvent{Name: e.Name, Data: encoded(o)})
		}
	}
	return out
}
