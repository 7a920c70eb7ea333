//go:build unix && !linux

package realcluster

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// groupOfItsOwn makes a process lead its group. Only Linux ends it with this program; elsewhere the
// next Start ends what is left.
func groupOfItsOwn() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// processesWith lists the processes of this user that have a text in their arguments.
func processesWith(text string) (pids []int) {
	out, err := exec.Command("ps", "-xo", "pid=,command=").Output()
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(out)) {
		number, command, _ := strings.Cut(strings.TrimSpace(line), " ")
		if pid, err := strconv.Atoi(number); err == nil && pid != os.Getpid() && strings.Contains(command, text) {
			pids = append(pids, pid)
		}
	}
	return pids
}
