package realcontainer

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"
)

// limit is how long the suite may take in a container, in its whole form.
const limit = 2 * time.Hour

// programs are what runs in the container: built here for Linux without C libraries, because the image
// has neither Go nor the source.
var programs = []struct{ name, kind, dir, pkg string }{
	{"realsuite.test", "test", "../..", "./internal/realsuite"},
	{"conformance.test", "test", "../..", "./internal/conformance"},
	{"mongodb.test", "test", "../..", "./internal/store/mongodb"},
	{"shardboard", "build", "../..", "./cmd/shardboard"},
	{"yorkie", "build", "../yorkie", "github.com/yorkie-team/yorkie/cmd/yorkie"},
	{"editors", "build", "../yorkie", "./editors"},
}

// The suite runs inside the container, where mongod and mongos are, so that it can freeze and kill them
// as it does on a machine that has them.
func TestSuiteRunsInsideTheImage(t *testing.T) {
	image := os.Getenv("MONGODB_IMAGE")
	if image == "" {
		t.Skip("MONGODB_IMAGE names no image, such as mongo:8.0")
	}
	run := os.Getenv("SHARDBOARD_REAL_RUN")
	if run == "" {
		run = "Test"
	}
	container, err := testcontainers.Run(t.Context(), image,
		testcontainers.WithFiles(files(t)...),
		testcontainers.WithEnv(map[string]string{
			"MONGODB_BIN": "/usr/bin", "SHARDBOARD_TEST_PROGRAMS": "/suite/programs", "SHARDBOARD_BIN": "/suite/programs/shardboard",
			"SHARDBOARD_REAL_FORM": os.Getenv("SHARDBOARD_REAL_FORM"),
		}),
		testcontainers.WithEntrypoint("sh", "-c"),
		testcontainers.WithCmd(fmt.Sprintf("cd /suite/internal/realsuite && exec /suite/programs/realsuite.test -test.v -test.parallel 2 "+
			"-test.timeout %s -test.run '%s'", limit, run)),
		testcontainers.WithLogConsumers(printed{}),
		testcontainers.WithWaitStrategyAndDeadline(limit, wait.ForExit().WithExitTimeout(limit)),
	)
	testcontainers.CleanupContainer(t, container)
	if err != nil {
		t.Fatalf("the image %s cannot be used: %v", image, err)
	}
	state, err := container.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if state.ExitCode != 0 {
		t.Errorf("the suite failed in %s: it ended with %d", image, state.ExitCode)
	}
}

// printed prints what the suite says, as it says it.
type printed struct{}

func (printed) Accept(l testcontainers.Log) { fmt.Print(string(l.Content)) }

// files builds the programs and lists what goes into the container.
func files(t *testing.T) (all []testcontainers.ContainerFile) {
	t.Helper()
	dir := t.TempDir()
	for _, p := range programs {
		out := filepath.Join(dir, p.name)
		args := []string{"build", "-o", out, p.pkg}
		if p.kind == "test" {
			args = []string{"test", "-c", "-o", out, p.pkg}
		}
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir = p.dir
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+runtime.GOARCH)
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("build %s: %v\n%s", p.pkg, err, text)
		}
		all = append(all, testcontainers.ContainerFile{HostFilePath: out, ContainerFilePath: "/suite/programs/" + p.name, FileMode: 0o755})
	}
	// The suite reads the roles from the page that prints them, at the place where the repository has it.
	for _, path := range []string{"docs/roles.md", "internal/realsuite/doc.go"} {
		all = append(all, testcontainers.ContainerFile{HostFilePath: "../../" + path, ContainerFilePath: "/suite/" + path, FileMode: 0o644})
	}
	return all
}
