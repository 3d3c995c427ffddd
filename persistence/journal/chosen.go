package journal

// ModelChosen records that people chose the model that answers in the chat, by its name in the settings. An empty name
// is the main model.
type ModelChosen struct {
	Model string `json:"model,omitempty"`
}

func (ModelChosen) kind() string { return "model" }

func (f ModelChosen) apply(s *State, r Record) {
	if r.N > s.counted { // otherwise the meta file has a later choice
		s.Model = f.Model
	}
}
