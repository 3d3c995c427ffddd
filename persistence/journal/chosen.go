package journal

// ModelChosen records that people chose the model that answers in the chat, by its name in the settings. An empty name
// is the main model. Effort is how much it thinks, in a word; empty leaves that to the settings.
type ModelChosen struct {
	Model  string `json:"model,omitempty"`
	Effort string `json:"effort,omitempty"`
}

func (ModelChosen) kind() string { return "model" }

func (f ModelChosen) apply(s *State, r Record) {
	if r.N > s.counted { // otherwise the meta file has a later choice
		s.Model, s.Effort = f.Model, f.Effort
	}
}
