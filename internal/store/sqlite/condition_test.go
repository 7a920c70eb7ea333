package sqlite

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/store"
)

// logLines collects log entries as one line of level and message each.
type logLines struct {
	mu  sync.Mutex
	all []string
}

func (l *logLines) Enabled(context.Context, slog.Level) bool { return true }
func (l *logLines) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *logLines) WithGroup(string) slog.Handler            { return l }
func (l *logLines) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, r.Level.String()+" "+r.Message)
	return nil
}

// take returns the lines since the last call.
func (l *logLines) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := l.all
	l.all = nil
	return out
}

// startWatch runs Watch in a synctest bubble until the test ends.
func startWatch(t *testing.T, db *DB) *logLines {
	t.Helper()
	said := &logLines{}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = db.Watch(ctx, slog.New(said)) }()
	t.Cleanup(func() { cancel(); <-done })
	return said
}

func expectLog(t *testing.T, when string, said *logLines, want ...string) {
	t.Helper()
	got := said.take()
	ok := len(got) == len(want)
	for i := range want {
		ok = ok && strings.HasPrefix(got[i], want[i])
	}
	expect.That(t, ok, "%s: the log has %q, expected %q", when, got, want)
}

func TestALostDirectoryIsNoticedWithoutAWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "data")
		db := open(t, dir)
		said := startWatch(t, db)
		time.Sleep(time.Minute)
		synctest.Wait()
		expectLog(t, "while all is well", said)

		must.Do(t, os.Rename(dir, dir+".away"))
		time.Sleep(lookEvery)
		synctest.Wait()
		if c := db.Condition(); c.Hold != store.Vanished || time.Since(c.Since) > lookEvery {
			t.Errorf("after %s the condition is %+v, expected a loss", lookEvery, c)
		}
		expectLog(t, "at once", said, "ERROR the data directory is lost")
		time.Sleep(repeatLoss + lookEvery)
		synctest.Wait()
		expectLog(t, "at the later reminder", said, "ERROR the data directory is lost")

		must.Do(t, os.Rename(dir+".away", dir))
		time.Sleep(lookEvery)
		synctest.Wait()
		if c := db.Condition(); c.Hold != store.Owned || c.Err != nil {
			t.Errorf("with the directory back the condition is %+v", c)
		}
		expectLog(t, "when the directory is back", said, "INFO the data directory is back")

		must.Do(t, os.Rename(dir, dir+".away"))
		expect.That(t, db.SetSetting(t.Context(), "a", "1") != nil, "a write into a lost directory was accepted")
		synctest.Wait() // no time has passed
		expectLog(t, "when a write finds it", said, "ERROR the data directory is lost")
	})
}

func TestAReadOnlyStoreNoticesThatTheOwnerHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "data")
		owner := open(t, dir)
		reader := open(t, dir)
		said := startWatch(t, reader)
		time.Sleep(time.Minute)
		synctest.Wait()
		expectLog(t, "while there is an owner", said)
		if c := reader.Condition(); c.Hold != store.OwnedByAnother || reader.Writable() != store.ErrReadOnly {
			t.Errorf("unexpected condition: %+v", c)
		}

		must.Do(t, owner.Close())
		time.Sleep(lookEvery)
		synctest.Wait()
		expectLog(t, "without an owner", said, "WARN the shardboard that owned")
		if reader.Condition().Hold != store.OwnerGone || reader.SetSetting(t.Context(), "a", "1") != store.ErrOwnerGone {
			t.Errorf("unexpected condition: %+v", reader.Condition())
		}

		owner = open(t, dir) // a reader's check must not block the owner
		must.That(t, owner.Owner(), "the next process does not own the directory")
		time.Sleep(lookEvery)
		synctest.Wait()
		expectLog(t, "with a new owner", said, "INFO another shardboard owns")

		must.Do(t, os.Rename(dir, dir+".away"))
		time.Sleep(lookEvery)
		synctest.Wait()
		expectLog(t, "when the read-only directory is lost", said, "ERROR the data directory is lost")
	})
}

// Two readers that check at the same time do not keep a process from starting as the
// owner.
func TestProbesDoNotPreventOwnership(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, lockName)
	stop := make(chan struct{})
	var group sync.WaitGroup
	for range 2 {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		must.Do(t, err)
		group.Go(func() {
			defer f.Close()
			for {
				select {
				case <-stop:
					return
				case <-time.After(lockPause): // 130 times as often as a reader checks
					free(f)
				}
			}
		})
	}
	for range 20 {
		lock, err := acquirePatiently(path)
		if err != nil || lock == nil {
			t.Errorf("the directory has no owner, but cannot be owned: %v", err)
			continue
		}
		must.Do(t, lock.Close())
	}
	close(stop)
	group.Wait()
}
