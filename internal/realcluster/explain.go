package realcluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"syscall"
)

// whyNotRun explains in a few words why a program did not start or ended: from the error of the
// operating system and from what the program printed.
func whyNotRun(err error, output string) string {
	var ended *exec.ExitError
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		return fmt.Sprintf("it is built for another kind of machine than this one (%s/%s)", runtime.GOOS, runtime.GOARCH)
	case errors.Is(err, fs.ErrPermission):
		return "it may not be executed (chmod +x)"
	case errors.Is(err, fs.ErrNotExist):
		return "it needs a program loader that this system does not have, so it is built for another system"
	case errors.As(err, &ended):
		if s, ok := ended.Sys().(syscall.WaitStatus); ok && s.Signaled() && s.Signal() == syscall.SIGILL {
			return "this processor lacks instructions that it needs (MongoDB 5.0 and later need AVX)"
		}
	}
	if known := knownReason(output); known != "" {
		return known
	}
	if err == nil {
		err = errExited
	}
	if line := lastComplaint(output); line != "" {
		return fmt.Sprintf("%v: %s", err, line)
	}
	return err.Error()
}

var (
	missingLibrary   = regexp.MustCompile(`error while loading shared libraries: ([^:\s]+)`)
	unknownParameter = regexp.MustCompile(`Unknown --setParameter '([^']+)'`)
	unknownOption    = regexp.MustCompile(`(?i)(?:unrecogni[sz]ed option|unknown option)[^\n"]*`)
)

// knownReason recognizes failures that people can do something about.
func knownReason(output string) string {
	switch {
	case missingLibrary.MatchString(output):
		return fmt.Sprintf("it needs the library %s, which this system does not have", missingLibrary.FindStringSubmatch(output)[1])
	case isDiskFull(output):
		return "the disk is full"
	case isPortTaken(output):
		return "its port is in use"
	case unknownParameter.MatchString(output):
		return fmt.Sprintf("this release does not know the parameter %s", unknownParameter.FindStringSubmatch(output)[1])
	case unknownOption.MatchString(output):
		return fmt.Sprintf("this release does not know an option (%s)", unknownOption.FindString(output))
	}
	return ""
}

func isDiskFull(output string) bool { return strings.Contains(output, "No space left on device") }

func isPortTaken(output string) bool { return strings.Contains(output, "Address already in use") }

// lastComplaint is the last line of a log that tells of an error, else the last line. The servers log
// JSON since 4.4: "s" is the severity, F or E for errors.
func lastComplaint(output string) string {
	last, worst := "", ""
	for line := range strings.Lines(output) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		var entry struct {
			S, Msg string
			Attr   json.RawMessage
		}
		if json.Unmarshal([]byte(line), &entry) == nil && entry.Msg != "" {
			last = strings.TrimSpace(entry.Msg + " " + string(entry.Attr))
			if entry.S == "F" || entry.S == "E" {
				worst = last
			}
			continue
		}
		last = line
	}
	if worst != "" {
		last = worst
	}
	return shorten(last)
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return shorten(line)
}

// shorten keeps a sentence readable.
func shorten(s string) string {
	if r := []rune(s); len(r) > 300 {
		return string(r[:300]) + "…"
	}
	return s
}
