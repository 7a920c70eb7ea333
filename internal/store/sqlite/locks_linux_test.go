package sqlite

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// heldLocks counts the locks of this process on a file.
func heldLocks(t *testing.T, path string) (n int) {
	t.Helper()
	info := must.Get(os.Stat(path))
	text, err := os.ReadFile("/proc/locks")
	if err != nil {
		t.Skip("the system does not list its locks:", err)
	}
	pid, inode := fmt.Sprintf(" %d ", os.Getpid()), fmt.Sprintf(":%d ", info.Sys().(*syscall.Stat_t).Ino)
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, "POSIX") && strings.Contains(line, pid) && strings.Contains(line, inode) {
			n++
		}
	}
	return n
}

// Closing any descriptor of a file releases all locks of the process on it. Without the
// locks, another program that closes the database would remove the journal.
func TestTakeoverKeepsTheLocksOfTheReadOnlyStore(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	must.Do(t, open(t, dir).Close())
	another, err := acquire(filepath.Join(dir, lockName))
	must.Do(t, err)
	reader := open(t, dir)
	path := filepath.Join(dir, FileName)
	must.That(t, !reader.Owner(), "a second store of the same directory became its owner")
	if heldLocks(t, path) == 0 {
		t.Skip("this system lists no locks of ours") // as some containers do
	}
	must.Do(t, another.Close())
	next, err := OpenWith(ctx, dir, Options{AlreadyOpen: true})
	must.Do(t, err)
	expect.That(t, heldLocks(t, path) != 0 && heldLocks(t, path+"-shm") != 0 && next.Owner(),
		"the locks are gone after opening the same file again")
	must.Do(t, next.Close())
	expect.That(t, heldLocks(t, path) != 0, "the locks are gone after a failed takeover")
	must.Do(t, reader.Close())
}
