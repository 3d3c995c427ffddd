package tool

// Commander is a tool whose calls are commands of a shell: grants of people, which
// are rules for commands, can cover them.
type Commander interface {
	Tool
	// Command is the text that the shell would get, byte for byte. It is empty for
	// a call that no grant may cover.
	Command(call Call) string
}

// Doubter is a tool of commands that can see what a command's text does not tell: no
// rule lets a call run without asking that it has doubts about.
type Doubter interface {
	Commander
	// Doubt says why a person has to be asked; empty: for no reason of the tool's.
	Doubt(call Call) string
}

// ScriptNamer is a tool of commands that can see whether a command hands a script to a
// program: a rule covers such a command only with the bytes that a person agreed to.
type ScriptNamer interface {
	Commander
	// NamesScript reports whether an operand is a script, of a program that is not known
	// to leave it alone.
	NamesScript(call Call) bool
}

// ShellTexter is a tool whose calls give a shell, or a program that may be one, something
// to run.
type ShellTexter interface {
	Tool
	// ShellText is all that the call would have run, as a shell reads it, whatever else the
	// call says. Prohibitions of the operator's are held against it.
	ShellText(call Call) string
}

// Explainer is a tool that tells people what a call would do before they agree.
// A tool that asks and is none is shown by its name and input.
type Explainer interface {
	Tool
	// Explain looks at what the call would change. It has no effects. It is asked
	// when the request is made, and once more before an approved call begins.
	Explain(call Call) (Explanation, error)
}

// Explanation is what a person is shown, and what their answer is bound to.
type Explanation struct {
	Title string // of the tool, for people; empty: that of its [Spec]
	What  string // one plain sentence: what would happen
	Risk  string // one plain sentence; empty: nothing beyond What
	// Chinese are the same words in Chinese; without What the English ones are shown.
	Chinese Words
	// Exact is what would take effect: a command, the difference of a file, the values that
	// a server gets. It is shown whole, with controls made visible, and has no words of
	// its own: What says what it is. It may be empty where What says it all.
	Exact string
	// Bind is a digest of everything beside the input that the answer is bound to:
	// folder, environment, bytes of the files that are named, a tool's schema. An
	// approved call whose Bind is another one by then is not executed.
	Bind string
	// FilesIn is the folder of the project, without links, that all files which the call
	// would send are in, with nothing in between. A person may agree to it for a time, in
	// the place of these very bytes; empty: to these alone.
	FilesIn string
}
