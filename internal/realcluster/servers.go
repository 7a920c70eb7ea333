package realcluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Releases that these tests know, as major and minor number. A server of another release may not know
// the options that it is started with.
var oldest, newest = [2]int{4, 4}, [2]int{9, 99}

// versionPatience is how long mongod and mongos may take to print their version; a loaded machine
// reads 200 MB from its disk for the first one.
const versionPatience = time.Minute

// Servers are the mongod and mongos of one release.
type Servers struct {
	Release string // such as 8.0.10
	Mongod  string // path of the program
	Mongos  string
}

// Find lists the servers in a folder, the oldest release first: either the folder has mongod and
// mongos itself, or each of its subfolders is one release. Both may also be in a subfolder "bin", as
// in the archives that MongoDB publishes.
func Find(ctx context.Context, dir string) ([]Servers, error) {
	if direct, ok, err := programsIn(dir); err != nil {
		return nil, err
	} else if ok {
		s, err := direct.withRelease(ctx)
		return []Servers{s}, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("the folder of MongoDB servers cannot be read: %w", err)
	}
	var all []Servers
	for _, e := range entries {
		s, ok, err := programsIn(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		if s, err = s.withRelease(ctx); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no mongod and mongos: it needs both, or one folder with both for each release", dir)
	}
	slices.SortFunc(all, func(a, b Servers) int { return slices.Compare(a.numbers(), b.numbers()) })
	return all, nil
}

// programsIn finds both programs in a folder or in its subfolder "bin".
func programsIn(dir string) (s Servers, ok bool, err error) {
	for _, at := range []string{dir, filepath.Join(dir, "bin")} {
		s = Servers{Mongod: filepath.Join(at, "mongod"), Mongos: filepath.Join(at, "mongos")}
		mongod, mongos := isFile(s.Mongod), isFile(s.Mongos)
		switch {
		case mongod && mongos:
			return s, true, nil
		case mongod:
			return s, false, fmt.Errorf("%s has mongod but no mongos: a sharded cluster needs both", at)
		case mongos:
			return s, false, fmt.Errorf("%s has mongos but no mongod: a sharded cluster needs both", at)
		}
	}
	return s, false, nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// withRelease asks both programs for their release.
func (s Servers) withRelease(ctx context.Context) (Servers, error) {
	mongod, err := versionOf(ctx, s.Mongod)
	if err != nil {
		return s, err
	}
	mongos, err := versionOf(ctx, s.Mongos)
	if err != nil {
		return s, err
	}
	if mongod != mongos {
		return s, fmt.Errorf("%s is %s and %s is %s: both must be of the same release", s.Mongod, mongod, s.Mongos, mongos)
	}
	s.Release = mongod
	n := s.numbers()
	if of := []int{n[0], n[1]}; slices.Compare(of, oldest[:]) < 0 || slices.Compare(of, newest[:]) > 0 {
		return s, fmt.Errorf("%s is of release %s, which these tests do not know: they start 4.4 to 9", s.Mongod, mongod)
	}
	return s, nil
}

// versionLine is what both programs print, such as "db version v8.0.10".
var versionLine = regexp.MustCompile(`(?m)^(?:db|mongos) version v(\d+\.\d+\.\d+\S*)`)

func versionOf(ctx context.Context, program string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, versionPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "--version")
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		if ctx.Err() != nil {
			return "", fmt.Errorf("%s did not print its version within %s", program, versionPatience)
		}
		return "", fmt.Errorf("%s does not run here: %s", program, whyNotRun(err, string(out)))
	}
	m := versionLine.FindStringSubmatch(string(out))
	if m == nil {
		return "", fmt.Errorf("%s is of an unknown release: it answered --version with %q", program, firstLine(string(out)))
	}
	return m[1], nil
}

// numbers are major, minor and patch; a suffix such as -rc0 is ignored.
func (s Servers) numbers() []int {
	n := make([]int, 3)
	for i, part := range strings.SplitN(s.Release, ".", 3) {
		digits := strings.IndexFunc(part, func(r rune) bool { return r < '0' || r > '9' })
		if digits >= 0 {
			part = part[:digits]
		}
		n[i], _ = strconv.Atoi(part)
	}
	return n
}

// AtLeast reports whether the servers are of this release or a later one.
func (s Servers) AtLeast(major, minor int) bool {
	n := s.numbers()
	return cmp.Or(cmp.Compare(n[0], major), cmp.Compare(n[1], minor)) >= 0
}

// Line is the release without its patch number, such as 8.0.
func (s Servers) Line() string {
	n := s.numbers()
	return fmt.Sprintf("%d.%d", n[0], n[1])
}

// errExited is why a program ended by itself.
var errExited = errors.New("it ended")
