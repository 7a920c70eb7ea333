package realcluster

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// folderPrefix begins the name of every folder of a cluster.
const folderPrefix = "shardboard-realcluster-"

// folder is the temporary folder of one cluster. Its lock file is locked while the program lives that
// made it; the kernel unlocks it when that program ends in whatever way.
type folder struct {
	path string
	lock *os.File
}

// makeFolder removes what earlier runs left in a folder for temporary files, and makes a folder there.
func makeFolder(parent string, log func(string)) (*folder, error) {
	if parent == "" {
		parent = os.TempDir()
	}
	removeEarlier(parent, log)
	path, err := os.MkdirTemp(parent, folderPrefix)
	if err != nil {
		return nil, err
	}
	lock, err := lockFile(path)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(path))
	}
	return &folder{path, lock}, nil
}

func lockFile(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// remove deletes the folder.
func (f *folder) remove() error {
	return errors.Join(removeAll(f.path), f.lock.Close())
}

// removeAll deletes a folder. A server that was just killed can leave the kernel writing for a moment.
func removeAll(path string) (err error) {
	for range 50 {
		if err = os.RemoveAll(path); err == nil {
			return nil
		}
		time.Sleep(pollPause)
	}
	return err
}

// freshFolder is how old a folder without a lock has to be before it counts as left behind: its maker
// locks it a moment after making it.
const freshFolder = 10 * time.Second

// removeEarlier ends the processes and removes the folders of clusters whose programs are gone.
func removeEarlier(parent string, log func(string)) {
	all, _ := filepath.Glob(filepath.Join(parent, folderPrefix+"*"))
	for _, path := range all {
		if info, err := os.Stat(path); err != nil || !info.IsDir() || !isOurs(info) {
			continue
		} else if _, err := os.Stat(filepath.Join(path, "lock")); errors.Is(err, fs.ErrNotExist) && time.Since(info.ModTime()) < freshFolder {
			continue
		}
		lock, err := lockFile(path)
		if err != nil {
			continue // its program lives
		}
		ended := endProcessesOf(path)
		err = errors.Join(removeAll(path), lock.Close())
		if err != nil {
			log(fmt.Sprintf("A cluster of an earlier run is still in %s and cannot be removed: %v.", path, err))
			continue
		}
		log(fmt.Sprintf("A cluster of an earlier run was still there: %s ended, and the folder %s was removed.", processes(ended), path))
	}
}

func processes(n int) string {
	if n == 1 {
		return "1 process was"
	}
	return fmt.Sprintf("%d processes were", n)
}

// isOurs reports whether this user owns a file.
func isOurs(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Getuid()
}

// endProcessesOf kills the processes that were started for a folder, by their ids, and waits for them.
func endProcessesOf(path string) int {
	pids := processesWith(path + string(filepath.Separator))
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	for end := time.Now().Add(endPatience); time.Now().Before(end); time.Sleep(pollPause) {
		if len(processesWith(path+string(filepath.Separator))) == 0 {
			break
		}
	}
	return len(pids)
}

// roomPerServer is what a new mongod writes: its journal of about 300 MB, and some data.
const roomPerServer = 400 << 20

// checkRoom refuses a disk that is too full.
func checkRoom(dir string, servers int, free func(string) (uint64, error)) error {
	if dir == "" {
		dir = os.TempDir()
	}
	has, err := free(dir)
	if err != nil {
		return fmt.Errorf("the folder %s cannot be used: %w", dir, err)
	}
	if need := uint64(servers) * roomPerServer; has < need {
		return fmt.Errorf("the disk of %s has %d MB free and a cluster of %d servers needs %d MB: set TMPDIR to a folder with more room",
			dir, has>>20, servers, need>>20)
	}
	return nil
}

func freeBytes(dir string) (uint64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return s.Bavail * uint64(s.Bsize), nil
}
