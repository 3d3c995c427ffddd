package main

// The systems. All but ours are bots of the harness; linked is a program that links the same
// libraries as ours and ends at once.
const (
	memory    = "in memory"
	streaming = "streaming"
	durable   = "durable floor"
	ours      = "ours"
	linked    = "linked program"
)

// The loads and the other sources of figures.
const (
	paced             = "paced"
	closed            = "closed loop"
	thousandChats     = "1,000 chats"
	thousandChatsSlow = "1,000 chats, slow model"
	lastMinute        = "rests shortly"
	laterOn           = "rests for three minutes"
	start             = "start"
	startAmong        = "start among chats"
	firstTurn         = "first turn"
	resume            = "resume after SIGKILL"
	wholeTurn         = "a turn"
	storeAppend       = "appends"
	program           = "program"
)

// figure is one row of the table: a value of a load, and what it may be.
type figure struct {
	name, unit string
	load, key  string
	divide     float64 // the value, 0 means 1
	target     target
}

// target is a limit, or none if word is empty. With a base it is a multiple of the base's value.
type target struct {
	word  string
	limit float64
	base  base
}

const atMostWord, atLeastWord = "at most", "at least"

// base is another system, or another load of the same system.
type base struct{ system, load, words string }

func atMost(limit float64) target { return target{word: atMostWord, limit: limit} }

func atLeast(limit float64) target { return target{word: atLeastWord, limit: limit} }

func (t target) times(b base) target {
	t.base = b
	return t
}

func figures() []figure {
	floor := base{system: durable, words: "the durable floor"}
	const kB, MB = 1e3, 1e6
	return []figure{
		{"processor time a turn, 200 chats, 200 turns/s, model 100 ms", "ms", paced, "cpu_per_msg_ms", 0, atMost(1.3).times(floor)},
		{"added latency p50, the same", "ms", paced, "overhead_ms.p50", 0, atMost(1.3).times(floor)},
		{"added latency p99, the same", "ms", paced, "overhead_ms.p99", 0, atMost(1.5).times(floor)},
		{"processor time a turn, 200 chats, closed loop", "ms", closed, "cpu_per_msg_ms", 0, atMost(1.6).times(floor)},
		{"turns/s, the same", "", closed, "replies_per_s", 0, target{}},
		{"turns/s, 1,000 chats, model 0 ms", "", thousandChats, "replies_per_s", 0, atLeast(0.7).times(floor)},
		{"turns/s, 1,000 chats, model 200 ms", "", thousandChatsSlow, "replies_per_s", 0, atLeast(0.7).times(floor)},
		{"memory of a chat in the minute after its turn", "kB", lastMinute, "bytes_per_chat", kB, atMost(8)},
		{"memory of a chat three minutes later", "kB", laterOn, "bytes_per_chat", kB, atMost(1)},
		{"resident at rest", "MB", lastMinute, "empty.rss_bytes", MB, atMost(28)},
		{"exec to first poll", "ms", start, "to_first_poll_ms.p50", 0, atMost(1.3).times(base{system: linked, words: "a program that links the same"})},
		{"exec to first poll, 100,000 chats on disk", "ms", startAmong, "to_first_poll_ms.p50", 0, atMost(1.2).times(base{load: start, words: "the empty start"})},
		{"SIGKILL to first resumed run", "ms", resume, "resumed_ms", 0, atMost(150)},
		{"fsyncs a turn", "", wholeTurn, "fsyncs", 0, atMost(3)},
		{"opens, renames and truncations a turn", "", wholeTurn, "opens_renames_truncations", 0, atMost(0)},
		{"durable appends/s, 64 chats", "", storeAppend, "turns/s", 0, atLeast(20_000)},
		{"request of the first turn", "kB", firstTurn, "request_bytes_per_msg", kB, atMost(9)},
		{"of a chat's previous request, begins the next", "%", paced, "kept_percent", 0, atLeast(100)},
		{"binary", "MB", program, "bytes", MB, atMost(38)},
	}
}

// load is one way to use a system.
type load struct {
	name    string
	command string // of the harness
	flags   []string
	systems []string
	keep    bool // uses the folder that an earlier load has filled
}

func loads() []load {
	all, mine := []string{memory, streaming, durable, ours}, []string{ours}
	return []load{
		{paced, "drive", []string{"-pattern", "poisson", "-rate", "200", "-llm-delay", "100ms", "-chats", "200", "-msgs", "20"}, all, false},
		{closed, "drive", []string{"-chats", "200", "-msgs", "20"}, all, false},
		{thousandChats, "drive", []string{"-chats", "1000", "-msgs", "20"}, all, false},
		{thousandChatsSlow, "drive", []string{"-chats", "1000", "-msgs", "20", "-llm-delay", "200ms"}, all, false},
		{firstTurn, "drive", []string{"-chats", "20", "-msgs", "1", "-warmup", "0"}, all, false},
		// Memory is read after two rests.
		{lastMinute, "idle", []string{"-chats", "10000", "-window", "100", "-rest", "5s", "-restart=false"}, mine, false},
		{laterOn, "idle", []string{"-chats", "10000", "-window", "100", "-rest", "90s", "-restart=false"}, mine, false},
		{start, "coldstart", []string{"-runs", "5"}, []string{memory, ours}, false},
		{startAmong, "coldstart", []string{"-runs", "5"}, mine, true},
	}
}

// fill makes the chats of startAmong, once.
func fill() load {
	return load{startAmong, "coldstart", []string{"-chats", "100000", "-runs", "1"}, nil, true}
}
