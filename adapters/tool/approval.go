package tool

// Commander is a tool whose calls are shell commands, which people can allow with grants.
type Commander interface {
	Tool
	// Command is the text that the shell receives, byte for byte. It is empty for a call that no grant may cover.
	Command(call Call) string
}

// Doubter is a tool for commands that can detect effects which a command's text does not show. If it doubts a call,
// no rule lets the call run without approval.
type Doubter interface {
	Commander
	// Doubt says why a person has to be asked, or returns "".
	Doubt(call Call) string
}

// ScriptNamer is a tool for commands that can detect whether a command passes a script to a program. A rule covers
// such a command only with the script content that a person agreed to.
type ScriptNamer interface {
	Commander
	// NamesScript reports whether an operand is a script, unless the program is known not to run it.
	NamesScript(call Call) bool
}

// ShellTexter is a tool whose calls pass code to a shell, or to a program that may be one.
type ShellTexter interface {
	Tool
	// ShellText is everything that the call would run, as a shell reads it, regardless of the other input. The
	// operator's deny rules are matched against it.
	ShellText(call Call) string
}

// Explainer is a tool that describes to people what a call would do before they agree. Without it, requests show the
// tool's name and input.
type Explainer interface {
	Tool
	// Explain inspects what the call would change. It has no side effects. It is called when the request is made, and
	// again before an approved call starts.
	Explain(call Call) (Explanation, error)
}

// MaxExact is the longest text that people are asked to approve, in bytes.
const MaxExact = 32 << 10

// Explanation is what a person is shown, and what the decision is bound to.
type Explanation struct {
	Title string // of the tool, for people; defaults to the title in its [Spec]
	What  string // one plain sentence: what would happen
	Risk  string // one plain sentence, or empty if What is sufficient
	// Chinese are the same texts in Chinese. Without What, the English ones are shown.
	Chinese Words
	// Exact is what would take effect: a command, the diff of a file, the values that a server receives. It is shown
	// in full, with control characters made visible, and without a caption: What describes it. A call with more than
	// [MaxExact] is refused. It is empty if What is sufficient.
	Exact string
	// Bind is a digest of everything besides the input that the decision is bound to: folder, environment, content of
	// the named files, a tool's schema. An approved call is not executed if its Bind has changed.
	Bind string
	// FilesIn is the folder of the project, without links, that directly contains all files which the call would send.
	// A person may agree to all files of this folder for a time, instead of only to these files. It is empty if that is
	// impossible.
	FilesIn string
}
