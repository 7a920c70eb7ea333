package realcluster

import (
	"fmt"
	"os"
	"strings"
)

// endsWithItsParent says that the kernel ends the servers with the test.
const endsWithItsParent = true

// processState is the kernel's letter for the state of a process: T is stopped; "" if there is none.
func processState(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	_, after, _ := strings.Cut(string(text), ") ")
	return after[:1]
}
