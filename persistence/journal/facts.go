package journal

// factKind is a row of the table of facts: the name of the fact in the journal, how its members are parsed, and how it
// is applied to the state.
type factKind struct {
	name  string
	parse func(body []byte) (Fact, bool)
	apply func(s *State, r Record) bool
}

// factKinds is the table of facts that the codec and [State.Apply] share. The compiler keeps it in read-only memory; a
// lookup copies it without allocating.
//
// To add a kind of fact, write a type with the methods kind and apply, and add a row here. TestEveryFactIsInTheTable
// finds types that are missing.
func factKinds() [26]factKind {
	return [...]factKind{
		{"turn", parseAs[TurnAccepted], applyAs[TurnAccepted]},
		{"call", parseAs[ToolStarted], applyAs[ToolStarted]},
		{"run", parseAs[RunStarted], applyAs[RunStarted]},
		{"step", parseStep, applyAs[StepResponded]},
		{"tool", parseTool, applyAs[ToolFinished]},
		{"merge", parseAs[TurnsMerged], applyAs[TurnsMerged]},
		{"finish", parseAs[RunFinished], applyAs[RunFinished]},
		{"stop", parseAs[StopRequested], applyAs[StopRequested]},
		{"egress", parseAs[EgressQueued], applyAs[EgressQueued]},
		{"sent", parseAs[EgressSent], applyAs[EgressSent]},
		{"settled", parseAs[EgressSettled], applyAs[EgressSettled]},
		{"retry", parseAs[EgressRetried], applyAs[EgressRetried]},
		{"replace", parseAs[TurnReplaced], applyAs[TurnReplaced]},
		{"ingress", parseAs[IngressSettled], applyAs[IngressSettled]},
		{"settle", parseAs[TurnsSettled], applyAs[TurnsSettled]},
		{"stumble", parseAs[Stumbled], applyAs[Stumbled]},
		{"park", parseAs[TurnParked], applyAs[TurnParked]},
		{"unpark", parseAs[TurnUnparked], applyAs[TurnUnparked]},
		{"decide", parseAs[ApprovalDecided], applyAs[ApprovalDecided]},
		{"outcome", parseAs[OutcomeBegun], applyAs[OutcomeBegun]},
		{"said", parseAs[WordsSaid], applyAs[WordsSaid]},
		{"refer", parseAs[RequestReferred], applyAs[RequestReferred]},
		{"referred", parseAs[ReferralSettled], applyAs[ReferralSettled]},
		{"guest", parseAs[ReferredRequestShown], applyAs[ReferredRequestShown]},
		{"guest_end", parseAs[ReferredRequestEnded], applyAs[ReferredRequestEnded]},
		{"buttons", parseAs[ButtonsSettled], applyAs[ButtonsSettled]},
	}
}

// kindNamed returns the row of a kind.
func kindNamed(name string) (factKind, bool) {
	for _, row := range factKinds() {
		if row.name == name {
			return row, true
		}
	}
	return factKind{}, false
}

// parseFact parses the members of a fact. It returns false if this version does not know the kind or some of the
// members.
func parseFact(kind string, body []byte) (f Fact, ok bool) {
	row, ok := kindNamed(kind)
	if !ok {
		return nil, false
	}
	return row.parse(body)
}

// parseAs decodes a fact whose written form is the type itself.
func parseAs[F Fact](body []byte) (Fact, bool) {
	return parseVia(body, func(f F) Fact { return f })
}

func parseStep(body []byte) (Fact, bool) { return parseVia(body, stepLine.fact) }

func parseTool(body []byte) (Fact, bool) { return parseVia(body, toolLine.fact) }

// applied is a fact that can be applied to a state, which [UnknownFact] cannot.
type applied interface {
	Fact
	apply(s *State, r Record)
}

// applyAs applies a record whose fact is an F. It returns false for any other fact, for example one with members that
// this version does not know.
func applyAs[F applied](s *State, r Record) bool {
	f, ok := r.Fact.(F)
	if ok {
		f.apply(s, r)
	}
	return ok
}

// runOf returns the run in progress if it has this id. Facts of other runs were left over by a checkpoint and have no
// effect.
func (s *State) runOf(id string) (*Run, bool) {
	return s.Run, s.Run != nil && s.Run.ID == id
}

func (f TurnAccepted) apply(s *State, _ Record) {
	t := NewTurn(f.Turn)
	s.turnAccepted(t)
	s.came(t)
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

func (f TurnAccepted) complete() bool { return f.Turn.Role != "" }
func (f TurnReplaced) complete() bool { return f.Turn.Role != "" }
func (f TurnsMerged) complete() bool  { return f.Closed.Role != "" }
func (f RunFinished) complete() bool  { return f.Message.Role != "" }
func (f OutcomeBegun) complete() bool { return f.Message.Role != "" }
func (f TurnParked) complete() bool   { return f.Turn.Role != "" }
func (f TurnUnparked) complete() bool { return f.Turn == nil || f.Turn.Role != "" }
