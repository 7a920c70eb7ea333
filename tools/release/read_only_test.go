package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// inImage runs a command in the unpacked image as a container does: the root file system is read-only, the volumes are
// the only places to write to, and the user is the image's. Only root may set that up.
const inImage = `
mount --bind "$1" "$1" && mount --bind "$2/data" "$1/data" && mount --bind "$2/keys" "$1/keys" &&
mount -o remount,bind,ro "$1" || exit 9
root=$1; shift 2
exec chroot --userspec=65532:65532 "$root" /shardboard "$@"`

func TestTheImageServesWithAReadOnlyRootAndWithoutRights(t *testing.T) {
	all := images(t, madeHere(t))
	if os.Getuid() != 0 {
		t.Skip("only root can mount a read-only root for another user")
	}
	if out, err := exec.CommandContext(t.Context(), "unshare", "--mount", "true").CombinedOutput(); err != nil {
		t.Skipf("no mount namespace of our own here: %v %s", err, out)
	}
	root, volumes := t.TempDir(), t.TempDir()
	for _, dir := range []string{filepath.Dir(root), root, filepath.Dir(volumes), volumes} {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	unpack := exec.CommandContext(t.Context(), "tar", "-xp", "-C", root)
	unpack.Stdin = mutate.Extract(all["linux/amd64"])
	if out, err := unpack.CombinedOutput(); err != nil {
		t.Fatalf("tar: %v\n%s", err, out)
	}
	for _, name := range []string{"data", "keys"} {
		dir := filepath.Join(volumes, name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(dir, user, user); err != nil {
			t.Fatal(err)
		}
	}
	cluster := start(t, exec.Command(filepath.Join(root, "shardboard"), "simcluster", "--listen", "127.0.0.1:0", "--empty", "--still"))
	uri := cluster.line(t, regexp.MustCompile(`^(mongodb://\S+)`))
	container := func(args ...string) *exec.Cmd {
		cmd := exec.Command("unshare",
			append([]string{"--mount", "--propagation", "private", "sh", "-c", inImage, "sh", root, volumes}, args...)...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "SHARDBOARD_DATA_DIR=/data", "SHARDBOARD_AUDIT_KEY=/keys/audit.key",
			"SHARDBOARD_URI=" + uri}
		return cmd
	}
	server := start(t, container("serve", "--listen", "127.0.0.1:0"))
	address := server.line(t, regexp.MustCompile(`^shardboard is at (http://\S+)`))
	res, err := http.Get(address + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Errorf("/healthz: %s", res.Status)
	}
	status := string(read(t, fmt.Sprintf("/proc/%d/status", server.cmd.Process.Pid)))
	if !strings.Contains(status, "\nUid:\t65532\t65532\t65532\t65532\n") {
		t.Errorf("the server runs as\n%s", status)
	}
	mounts := string(read(t, fmt.Sprintf("/proc/%d/mountinfo", server.cmd.Process.Pid)))
	if !regexp.MustCompile(`(?m)^\d+ \d+ \S+ \S+ / ro,`).MatchString(mounts) {
		t.Errorf("the root is not read-only:\n%s", mounts)
	}
	if _, err := os.Stat(filepath.Join(volumes, "data/shardboard.db")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(volumes, "keys/audit.key")); err != nil {
		t.Error(err)
	}
	if out, err := container("healthcheck", "--server", address).CombinedOutput(); err != nil {
		t.Errorf("healthcheck: %v\n%s", err, out)
	}
	if out, err := container("healthcheck", "--server", "http://127.0.0.1:1").CombinedOutput(); err == nil {
		t.Errorf("healthcheck of nothing:\n%s", out)
	}
}

// program is a running process whose standard output is read by lines.
type program struct {
	cmd   *exec.Cmd
	lines chan string
}

// start runs a program until the test ends: then it must end well when asked to.
func start(t *testing.T, cmd *exec.Cmd) program {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := program{cmd, make(chan string, 64)}
	go func() {
		defer close(p.lines)
		for in := bufio.NewScanner(out); in.Scan(); {
			p.lines <- in.Text()
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		kill := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
		defer kill.Stop()
		for range p.lines { // until it has closed its output
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v ended with %v", cmd.Args, err)
		}
	})
	return p
}

// line waits for a line that matches and returns its part in parentheses.
func (p program) line(t *testing.T, pattern *regexp.Regexp) string {
	t.Helper()
	limit := time.After(30 * time.Second)
	for {
		select {
		case text, ok := <-p.lines:
			if !ok {
				t.Fatalf("%v ended without a line like %s", p.cmd.Args, pattern)
			}
			if m := pattern.FindStringSubmatch(text); m != nil {
				return m[1]
			}
		case <-limit:
			t.Fatalf("%v printed no line like %s", p.cmd.Args, pattern)
		}
	}
}
