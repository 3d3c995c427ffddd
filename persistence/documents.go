package persistence

import (
	"context"
	"errors"
	"time"

	"github.com/shipmyagent/shipmyagent/messages"
	"github.com/shipmyagent/shipmyagent/messages/uimessage"
	"github.com/shipmyagent/shipmyagent/persistence/memories"
	"github.com/shipmyagent/shipmyagent/persistence/permission"
	"github.com/shipmyagent/shipmyagent/persistence/timetable"
)

// Errors of tasks.
var (
	// ErrTask means that there is no such task.
	ErrTask = errors.New("there is no such task")
	// ErrTaskExists means that a task with that id already exists.
	ErrTaskExists = errors.New("there is a task of that name already")
)

// TaskStore stores tasks: files that people read and edit. A nil error means durable. It is safe
// for concurrent use, also by several processes.
type TaskStore interface {
	// Tasks returns all tasks in the order of their ids, and those that cannot be read.
	Tasks(ctx context.Context) ([]timetable.Task, []timetable.Problem, error)
	// Task returns a task, or fails with [ErrTask].
	Task(id string) (timetable.Task, error)
	// AddTask adds a task, or fails with [ErrTaskExists].
	AddTask(ctx context.Context, t timetable.Task) error
	// SetTaskStatus changes the status and who stopped the task, and nothing else, or fails with [ErrTask].
	SetTaskStatus(ctx context.Context, id string, status timetable.Status, by string) error
	// ChangeTask replaces a task with the result of change, or fails with [ErrTask]. The id does not
	// change. An error of change is returned, and the task stays as it is.
	ChangeTask(ctx context.Context, id string, change func(timetable.Task) (timetable.Task, error)) error
	// TaskNumbers returns the numbers by which people of a chat refer to its tasks, by task id. A
	// task without a number gets the next one; numbers are not reused.
	TaskNumbers(ctx context.Context, key messages.ChatKey, ids []string) (map[string]int, error)
	// HadTasks reports whether a task of the chat was ever given a number. It is fast.
	HadTasks(key messages.ChatKey) bool
	// RemoveTask removes a task, or fails with [ErrTask].
	RemoveTask(ctx context.Context, id string) error
}

// FireLog stores the outcomes of the times of tasks. Its writes are durable when they return; only
// one process may write it.
type FireLog interface {
	// Fires returns the records so far, the oldest first.
	Fires(ctx context.Context) ([]timetable.Fire, error)
	AddFires(ctx context.Context, fires ...timetable.Fire) error
}

// Errors of memories.
var (
	// ErrMemoryChanged means that the text is no longer the one that was to be replaced.
	ErrMemoryChanged = errors.New("the memory was changed meanwhile")
	// ErrMemoryFull means that a memory would grow beyond [memories.MaxSize].
	ErrMemoryFull = errors.New("the memory is full")
	// ErrNoMemory means that no memory can have that name.
	ErrNoMemory = errors.New("there is no such memory")
)

// MemoryStore stores memories: Markdown that people read and edit. A nil error means durable. Every
// change replaces a text atomically: after a crash either the old or the new one exists. It is safe
// for concurrent use, also by several processes.
type MemoryStore interface {
	// ReadMemory returns a text, which is empty if it does not exist.
	ReadMemory(ctx context.Context, place memories.Place) (string, error)
	// AddMemory appends facts and reports how many are new: a fact whose words already exist is left
	// out. Existing text does not change.
	AddMemory(ctx context.Context, place memories.Place, facts ...memories.Fact) (int, error)
	// ReplaceMemory replaces was with a text, or fails with [ErrMemoryChanged]. With backup, was is
	// saved in a file next to it first.
	ReplaceMemory(ctx context.Context, place memories.Place, was, text string, backup bool) error
	MemoryCursor
}

// MemoryCursor stores how far facts were extracted from a chat's history.
type MemoryCursor interface {
	// Extracted returns the mark, which is zero if nothing was extracted.
	Extracted(ctx context.Context, key messages.ChatKey) (memories.Mark, error)
	// AddExtracted adds facts to the memory of a chat and moves its mark. After a crash both changes
	// exist, or neither.
	AddExtracted(ctx context.Context, key messages.ChatKey, to memories.Mark, facts ...memories.Fact) (int, error)
}

// ErrSkillLock is wrapped by errors of skill approvals that cannot be read. Until a person has
// repaired them, no skill counts as approved.
var ErrSkillLock = errors.New("the agreements to skills cannot be read")

// SkillApproval records that a person approved a skill at one digest.
type SkillApproval struct {
	Name   string    `json:"name"`
	Digest string    `json:"digest"`
	Folder string    `json:"folder,omitempty"` // where it was found
	At     time.Time `json:"at"`
	Where  string    `json:"where,omitempty"` // the chat, or the command line
}

// SkillStore stores skill approvals, one digest per skill. A nil error means durable. It is safe
// for concurrent use, also by several processes.
type SkillStore interface {
	// SkillApprovals returns all of them, sorted by name.
	SkillApprovals(ctx context.Context) ([]SkillApproval, error)
	// ApproveSkill replaces the approval of that name.
	ApproveSkill(ctx context.Context, approval SkillApproval) error
	// ForgetSkill reports whether there was an approval to delete.
	ForgetSkill(ctx context.Context, name string) (bool, error)
}

// GrantStore stores the grants of chats. A nil error means durable. Only the actor of a chat writes
// its grants; different chats may do so concurrently.
type GrantStore interface {
	// Grants returns the grants of a chat as last saved. After an error none of them can be trusted.
	Grants(ctx context.Context, key messages.ChatKey) ([]permission.Grant, error)
	// SaveGrants replaces all grants. After a crash either the old or the new ones exist.
	SaveGrants(ctx context.Context, key messages.ChatKey, grants []permission.Grant) error
}

// FileStore stores small files of a chat that are neither history nor facts: people's settings for
// the chat, or the remaining pages of a long answer. It is safe for concurrent use; only one caller
// at a time may write files of the same chat.
type FileStore interface {
	// ReadFile returns the content of a file, or nil if it does not exist.
	ReadFile(ctx context.Context, key messages.ChatKey, name string) ([]byte, error)
	// WriteFile replaces a file, durably and atomically; empty content removes it.
	WriteFile(ctx context.Context, key messages.ChatKey, name string, content []byte) error
	// FilePath returns the path of a file, for a platform that sends it.
	FilePath(key messages.ChatKey, name string) (string, error)
}

// VectorCache caches the vectors that an embedding model made of texts. It may forget anything at
// any time. It is safe for concurrent use.
type VectorCache interface {
	// Vectors returns the cached vectors of texts, in the order of the texts, with nil for those that
	// are not cached.
	Vectors(ctx context.Context, model string, texts []string) ([][]float32, error)
	// KeepVectors caches the vectors of texts. Repeating it changes nothing.
	KeepVectors(ctx context.Context, model string, texts []string, vectors [][]float32) error
}

// Search asks for turns.
type Search struct {
	// Text are the words. Turns with all of them come first; if there are few, turns with any of them
	// follow. Words separated only by signs are found as a sequence, and so is text of a script
	// without spaces, if the sequence occurs at all.
	Text  string
	Limit int // maximum number of results; 0 means 10
	// NotRequest leaves out the turns of one request.
	NotRequest string
}

// Found is a turn that was found.
type Found struct {
	ChatKey messages.ChatKey
	// Place is where the turn is, relative to the folder of the chat: file:offset in a history,
	// file:line in an archive.
	Place string
	Score float64 // higher is better; comparable among turns with all words, and among others
	// Message is the turn as it is stored, Line its exact bytes.
	Message uimessage.Message
	Line    []byte
	// Excerpt is the text of the turn around the first word that was found.
	Excerpt Excerpt
}

// Excerpt is a piece of the text of a turn.
type Excerpt struct {
	Text string
	// Before and After are set if text was left out there.
	Before, After bool
}

// Searcher finds turns of one chat, the best first. It is safe for concurrent use.
type Searcher interface {
	Search(ctx context.Context, key messages.ChatKey, q Search) ([]Found, error)
}
