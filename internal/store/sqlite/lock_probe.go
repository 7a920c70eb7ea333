package sqlite

import (
	"os"
	"syscall"
	"time"
)

// A probe holds a shared lock for some microseconds, in which whoever wants the
// exclusive one is refused. So acquiring is tried again a few times.
const (
	lockTries = 6
	lockPause = 15 * time.Millisecond
)

// free tells whether nobody owns the directory whose lock file this is. flock has
// no way to ask, so the shared lock is taken and given back at once. Two that ask
// at the same time do not hinder each other; a lock that cannot be asked about is
// taken for held.
func free(lock *os.File) bool {
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); err != nil {
		return false
	}
	return syscall.Flock(int(lock.Fd()), syscall.LOCK_UN) == nil
}

// acquirePatiently is acquire, again where a probe may have been in the way.
func acquirePatiently(path string) (lock *os.File, err error) {
	for try := 1; ; try++ {
		if lock, err = acquire(path); lock != nil || err != nil || try == lockTries {
			return lock, err
		}
		time.Sleep(lockPause)
	}
}
