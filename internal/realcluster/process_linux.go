package realcluster

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// groupOfItsOwn makes a process lead its group, and end when this program ends in whatever way.
func groupOfItsOwn() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// processesWith lists the processes of this user that have a text in their arguments.
func processesWith(text string) (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		args, err := os.ReadFile(f)
		if err != nil || !strings.Contains(string(args), text) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(f))); err == nil && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}
