//go:build unix && !linux

package realcluster

import (
	"fmt"
	"os/exec"
	"strings"
)

const endsWithItsParent = false

// processState is the letter for the state of a process: T is stopped; "" if there is none.
func processState(pid int) string {
	out, err := exec.Command("ps", "-o", "stat=", "-p", fmt.Sprint(pid)).Output()
	if err != nil || strings.TrimSpace(string(out)) == "" {
		return ""
	}
	return strings.TrimSpace(string(out))[:1]
}
