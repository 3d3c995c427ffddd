package filestoretest

import "fmt"

// Kind is the kind of an operation.
type Kind string

// The operations of a disk.
const (
	OpOpen     Kind = "open"
	OpRead     Kind = "read"
	OpWrite    Kind = "write"
	OpSize     Kind = "size"
	OpTruncate Kind = "truncate"
	OpDatasync Kind = "datasync"
	OpReread   Kind = "reread"
	OpRename   Kind = "rename"
	OpRemove   Kind = "remove"
	OpMkdir    Kind = "mkdir"
	OpReadDir  Kind = "readdir"
	OpSyncDir  Kind = "syncdir"
	OpLstat    Kind = "lstat"
)

// Op is one operation on a disk.
type Op struct {
	N      int64 // its number among all operations, from 1
	Kind   Kind
	Name   string // of a rename, the new one
	Offset int64  // of a truncation, the new size
	Size   int    // bytes to read or write
}

func (op Op) String() string { return fmt.Sprintf("#%d %s %s", op.N, op.Kind, op.Name) }

// Changes reports whether the operation can change the disk or what is durable
// on it.
func (op Op) Changes() bool {
	switch op.Kind {
	case OpRead, OpSize, OpReadDir, OpLstat:
		return false
	default:
		return true
	}
}

// Short is the fault of a write that writes N bytes and then fails with Err, or with a short write
// if Err is nil.
type Short struct {
	N   int
	Err error
}

func (s *Short) Error() string { return fmt.Sprintf("short write of %d bytes: %v", s.N, s.Err) }

// Fail injects faults: an error of fn is the result of the operation, which then has no effect, or
// with [Short] a partial one. A Datasync that fails loses the data it should have written. fn may
// not use the disk. nil ends the faults.
func (d *Disk) Fail(fn func(Op) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fail = fn
}

// After calls fn after every operation, including failed ones, in the goroutine of the operation.
// fn may use the disk. nil ends the calls.
func (d *Disk) After(fn func(Op)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.after = fn
}

func (d *Disk) fault(op Op) error {
	if d.fail == nil {
		return nil
	}
	return d.fail(op)
}

// tell calls the observer without holding the lock.
func (d *Disk) tell(op Op) {
	if d.after == nil {
		return
	}
	after := d.after
	d.mu.Unlock()
	defer d.mu.Lock()
	after(op)
}
