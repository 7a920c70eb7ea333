package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"shardboard/test/process"
)

// A cluster may give the container any user, who is in no list of users and has no home: OpenShift does.
func TestTheProgramRunsAsAUserWithoutNameAndHome(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can run a program as another user")
	}
	bin := shardboard(t)
	uri := simcluster(t, bin)
	dir, err := os.MkdirTemp("/tmp", "user")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	const uid = 1000680000 // of OpenShift's range
	must(t, os.Chown(dir, uid, 0))
	must(t, os.WriteFile(filepath.Join(dir, "uri"), []byte(uri), 0o400))
	must(t, os.Chown(filepath.Join(dir, "uri"), uid, 0))
	text, err := os.ReadFile(bin)
	must(t, err)
	own := filepath.Join(dir, "shardboard")
	must(t, os.WriteFile(own, text, 0o755))
	must(t, os.Chown(own, 0, 0))
	cmd := exec.Command(own, "serve", "--uri-file", filepath.Join(dir, "uri"), "--listen", "127.0.0.1:0",
		"--data-dir", filepath.Join(dir, "data"), "--audit-key", filepath.Join(dir, "keys", "audit.key"))
	cmd.Env, cmd.Dir = []string{}, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: 0}}
	process.Run(t, cmd).Line(t, `^\s+(http://\S+)`)
}
