package sqlite

import (
	"os"
	"syscall"
	"time"
)

// A probe holds a shared lock for some microseconds, during which an exclusive lock is refused. So
// acquiring is retried a few times.
const (
	lockTries = 6
	lockPause = 15 * time.Millisecond
)

// free reports whether nobody holds the lock of a directory. flock cannot ask, so the shared lock
// is taken and released at once. Concurrent probes do not block each other. A lock that cannot be
// probed counts as held.
func free(lock *os.File) bool {
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); err != nil {
		return false
	}
	return syscall.Flock(int(lock.Fd()), syscall.LOCK_UN) == nil
}

// acquirePatiently retries acquire, because a probe may have been in the way.
func acquirePatiently(path string) (lock *os.File, err error) {
	for try := 1; ; try++ {
		if lock, err = acquire(path); lock != nil || err != nil || try == lockTries {
			return lock, err
		}
		time.Sleep(lockPause)
	}
}
