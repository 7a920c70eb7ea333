package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/mutate"

	"shardboard/test/process"
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
		must(t, os.Chmod(dir, 0o755))
	}
	unpack := exec.CommandContext(t.Context(), "tar", "-xp", "-C", root)
	unpack.Stdin = mutate.Extract(all["linux/amd64"])
	if out, err := unpack.CombinedOutput(); err != nil {
		t.Fatalf("tar: %v\n%s", err, out)
	}
	for _, name := range []string{"data", "keys"} {
		dir := filepath.Join(volumes, name)
		must(t, os.Mkdir(dir, 0o700))
		must(t, os.Chown(dir, user, user))
	}
	cluster := process.Start(t, filepath.Join(root, "shardboard"), "simcluster", "--listen", "127.0.0.1:0", "--empty", "--still")
	uri := cluster.Line(t, `^(mongodb://\S+)`)
	container := func(args ...string) *exec.Cmd {
		cmd := exec.Command("unshare",
			append([]string{"--mount", "--propagation", "private", "sh", "-c", inImage, "sh", root, volumes}, args...)...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "SHARDBOARD_DATA_DIR=/data", "SHARDBOARD_AUDIT_KEY=/keys/audit.key",
			"SHARDBOARD_URI=" + uri}
		return cmd
	}
	server := process.Run(t, container("serve", "--listen", "127.0.0.1:0"))
	address := server.Line(t, `^shardboard is at (http://\S+)`)
	res, err := http.Get(address + "/healthz")
	must(t, err)
	_, _ = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Errorf("/healthz: %s", res.Status)
	}
	status := string(read(t, fmt.Sprintf("/proc/%d/status", server.Cmd.Process.Pid)))
	if !strings.Contains(status, "\nUid:\t65532\t65532\t65532\t65532\n") {
		t.Errorf("the server runs as\n%s", status)
	}
	mounts := string(read(t, fmt.Sprintf("/proc/%d/mountinfo", server.Cmd.Process.Pid)))
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
