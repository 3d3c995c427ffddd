package journal

// factKind is a row of the table of facts: the name of the fact in the journal, and how its members are parsed.
type factKind struct {
	name  string
	parse func(body []byte) (Fact, bool)
}

// factKinds is the table of facts. The compiler keeps it in read-only memory; a lookup copies it without allocating.
//
// CONTRIBUTING.md says how to add one. TestEveryFactIsInTheTable finds types that are missing here.
func factKinds() [27]factKind {
	return [...]factKind{
		{"turn", parseAs[TurnAccepted]},
		{"call", parseAs[ToolStarted]},
		{"run", parseAs[RunStarted]},
		{"step", parseAs[StepResponded]},
		{"tool", parseTool},
		{"merge", parseAs[TurnsMerged]},
		{"finish", parseAs[RunFinished]},
		{"stop", parseAs[StopRequested]},
		{"egress", parseAs[EgressQueued]},
		{"sent", parseAs[EgressSent]},
		{"settled", parseAs[EgressSettled]},
		{"retry", parseAs[EgressRetried]},
		{"replace", parseAs[TurnReplaced]},
		{"ingress", parseAs[IngressSettled]},
		{"settle", parseAs[TurnsSettled]},
		{"stumble", parseAs[Crashed]},
		{"park", parseAs[TurnQuarantined]},
		{"unpark", parseAs[TurnReleased]},
		{"decide", parseAs[ApprovalDecided]},
		{"outcome", parseAs[OutcomeBegun]},
		{"said", parseAs[WordsSaid]},
		{"refer", parseAs[RequestReferred]},
		{"referred", parseAs[ReferralSettled]},
		{"guest", parseAs[ReferredRequestShown]},
		{"guest_end", parseAs[ReferredRequestEnded]},
		{"buttons", parseAs[ButtonsSettled]},
		{"model", parseAs[ModelChosen]},
	}
}

// parseFact parses the members of a fact. It returns false if this version does not know the kind or some of the
// members.
func parseFact(kind string, body []byte) (f Fact, ok bool) {
	for _, row := range factKinds() {
		if row.name == kind {
			return row.parse(body)
		}
	}
	return nil, false
}

// parseAs decodes a fact whose written form is the type itself.
func parseAs[F Fact](body []byte) (Fact, bool) {
	return parseVia(body, func(f F) Fact { return f })
}

func parseTool(body []byte) (Fact, bool) { return parseVia(body, toolLine.fact) }

// applied is a fact that changes the state; an [UnknownFact] cannot be applied.
type applied interface {
	Fact
	apply(s *State, r Record)
}

// runOf returns the run in progress if it has this id. Facts of other runs were left over by a checkpoint and have no
// effect.
func (s *State) runOf(id string) (*Run, bool) {
	return s.Run, s.Run != nil && s.Run.ID == id
}

func (f TurnAccepted) apply(s *State, _ Record) {
	t := NewTurn(f.Turn)
	s.turnAccepted(t)
	s.arrived(t)
}

func (f IngressSettled) apply(s *State, r Record) {
	s.ingressSettled(r, f.Ingress, f.Fate, f.Reason)
	s.queue(r, f.Rows)
	if f.Fate == FateAnswered {
		s.reads(r, f.Shows)
	}
}

func (f TurnsSettled) apply(s *State, r Record) {
	s.settle(r, f.Fates)
	s.drop(f.Fates)
	s.queue(r, f.Rows)
}

func (f StepResponded) apply(s *State, _ Record) {
	run, ok := s.runOf(f.RunID)
	if !ok || f.MessageID != run.MessageID || f.From > len(run.Parts) {
		return
	}
	run.setParts(f)
}

func (f ToolStarted) apply(s *State, _ Record) {
	if run, ok := s.runOf(f.RunID); ok {
		run.Begun[f.CallID] = true
	}
}

func (f ToolFinished) apply(s *State, r Record) {
	if r.N > s.counted {
		s.pin(f.Skill) // otherwise the meta file has it; the history does not tell
	}
	run, ok := s.runOf(f.RunID)
	if !ok || f.MessageID != run.MessageID {
		return
	}
	run.setPart(f.Part)
	run.Final = run.Final || f.Final
	if f.Switch.Kind != "" {
		run.Switch = f.Switch
	}
}

func (f TurnsMerged) apply(s *State, r Record) {
	if s.Run == nil {
		s.put(NewTurn(f.Closed)) // an earlier fact may have put an older version in its place
		s.queue(r, f.Rows)       // its rows may still be undelivered
		return
	}
	if _, ok := s.runOf(f.RunID); ok {
		s.merged(r, f)
	}
}

func (f StopRequested) apply(s *State, _ Record) {
	if run, ok := s.runOf(f.RunID); ok {
		run.Stop = &f
	}
}

func (f EgressRetried) apply(s *State, r Record) {
	if row := s.Row(f.Key); row != nil {
		row.Parked, row.Reason, row.Tries, row.Queued = false, "", 0, r.TS
	}
}

// aboutMessage is a fact that must contain a message. If the message is missing, a newer version wrote the fact.
type aboutMessage interface{ complete() bool }

func (f TurnAccepted) complete() bool    { return f.Turn.Role != "" }
func (f TurnReplaced) complete() bool    { return f.Turn.Role != "" }
func (f TurnsMerged) complete() bool     { return f.Closed.Role != "" }
func (f RunFinished) complete() bool     { return f.Message.Role != "" }
func (f OutcomeBegun) complete() bool    { return f.Message.Role != "" }
func (f TurnQuarantined) complete() bool { return f.Turn.Role != "" }
func (f TurnReleased) complete() bool    { return f.Turn == nil || f.Turn.Role != "" }
