package realsuite_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"shardboard/internal/fixture/must"
	"shardboard/internal/realcluster"
)

// The variables that choose what runs.
const (
	binVariable      = "MONGODB_BIN"              // folder with the servers of one or more releases
	formVariable     = "SHARDBOARD_REAL_FORM"     // short or whole; without it, only SHARDBOARD_LONG runs the short form
	longVariable     = "SHARDBOARD_LONG"          // set by make test-all
	hourVariable     = "SHARDBOARD_REAL_HOUR"     // how long the random faults go on, such as 1h
	seedVariable     = "SHARDBOARD_REAL_SEED"     // of the random faults and of the recorded walk
	fileVariable     = "SHARDBOARD_RECORD_TO"     // where make record writes
	programsVariable = "SHARDBOARD_TEST_PROGRAMS" // folder with the programs, where there is no Go to build them
)

// simulatedReleases are those that the suite runs on without real servers.
var simulatedReleases = []string{"5.0", "8.0"}

// toolsDir has the programs that tests build; TestMain removes it.
var toolsDir string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "shardboard-realsuite")
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	toolsDir = dir
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// form is how much of the suite runs.
type form struct{ whole bool }

// chosenForm skips a test when nobody asked for the suite.
func chosenForm(t *testing.T) form {
	t.Helper()
	switch chosen := os.Getenv(formVariable); chosen {
	case "short":
	case "whole":
		return form{whole: true}
	case "":
		if os.Getenv(longVariable) == "" || testing.Short() {
			t.Skipf("%s is not set; make test-real and make test-all set it", formVariable)
		}
	default:
		t.Fatalf("%s is %q: it can be short or whole", formVariable, chosen)
	}
	return form{}
}

// count is the number of the whole form, or of the short one.
func (f form) count(whole, short int) int {
	if f.whole {
		return whole
	}
	return short
}

var findServers = sync.OnceValues(func() ([]realcluster.Servers, error) {
	return realcluster.Find(context.Background(), os.Getenv(binVariable))
})

// targets are the real releases of this machine; without any, the simulated ones.
func targets(t *testing.T) (all []target) {
	t.Helper()
	if os.Getenv(binVariable) == "" {
		for _, release := range simulatedReleases {
			all = append(all, target{release: release, simulated: true})
		}
		if os.Getenv(formVariable) == "" { // in make test-all
			return all[len(all)-1:]
		}
		return all
	}
	servers, err := findServers()
	must.Do(t, err)
	for _, s := range servers {
		all = append(all, target{release: s.Release, servers: s})
	}
	return all
}

// onEvery runs a test on every release.
func onEvery(t *testing.T, test func(t *testing.T, g target, f form)) {
	t.Helper()
	f := chosenForm(t)
	all := targets(t)
	t.Parallel() // most of the time they wait
	for _, g := range all {
		t.Run(g.name(), func(t *testing.T) {
			if g.simulated {
				t.Parallel()
			}
			test(t, g, f)
		})
	}
}

// building is held while a program is built, so that each is built once.
var building sync.Mutex

// build builds a program once.
func build(t testing.TB, name, dir, pkg string) string {
	t.Helper()
	if ready := os.Getenv(programsVariable); ready != "" {
		return filepath.Join(ready, name)
	}
	building.Lock()
	defer building.Unlock()
	bin := filepath.Join(toolsDir, name)
	if _, err := os.Stat(bin); err == nil {
		return bin
	}
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", bin, pkg)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	must.That(t, err == nil, "build %s: %v\n%s", pkg, err, out)
	return bin
}

// program is the product: SHARDBOARD_BIN, or built from this repository.
func program(t testing.TB) string {
	t.Helper()
	if bin := os.Getenv("SHARDBOARD_BIN"); bin != "" {
		return bin
	}
	return build(t, "shardboard", "../..", "./cmd/shardboard")
}
