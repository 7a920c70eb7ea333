package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/coreos/go-systemd/v22/unit"

	"shardboard/test/process"
)

const unitFile = "../../deploy/systemd/shardboard.service"

// options are the settings of the unit, by section and name.
func options(t *testing.T) map[string][]string {
	t.Helper()
	f, err := os.Open(unitFile)
	must(t, err)
	defer f.Close()
	list, err := unit.DeserializeOptions(f)
	must(t, err)
	out := map[string][]string{}
	for _, o := range list {
		out[o.Section+"."+o.Name] = append(out[o.Section+"."+o.Name], o.Value)
	}
	return out
}

func TestTheUnitTakesItsSecretAsCredentialAndKeepsDataApartFromTheKey(t *testing.T) {
	got := options(t)
	for name, want := range map[string][]string{
		"Service.ExecStart":      {"/usr/local/bin/shardboard serve"},
		"Service.ExecReload":     {"/bin/kill -HUP $MAINPID"},
		"Service.Restart":        {"on-failure"},
		"Service.User":           {"shardboard"},
		"Service.LoadCredential": {"uri:/etc/shardboard/uri"},
		"Service.StateDirectory": {"shardboard shardboard-keys"},
		"Service.Environment": {"SHARDBOARD_URI_FILE=%d/uri",
			"SHARDBOARD_DATA_DIR=%S/shardboard SHARDBOARD_AUDIT_KEY=%S/shardboard-keys/audit.key"},
		"Service.ProtectSystem":         {"strict"},
		"Service.NoNewPrivileges":       {"yes"},
		"Service.CapabilityBoundingSet": {""},
		"Install.WantedBy":              {"multi-user.target"},
	} {
		if !slices.Equal(got[name], want) {
			t.Errorf("%s is %q, not %q", name, got[name], want)
		}
	}
}

func TestSystemdTakesTheUnitAndCallsItWellProtected(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("systemd-analyze is not installed here; the settings are checked without it above")
	}
	text, err := os.ReadFile(unitFile)
	must(t, err)
	// verify wants the program to exist.
	copied := filepath.Join(t.TempDir(), "shardboard.service")
	text = []byte(strings.ReplaceAll(string(text), "/usr/local/bin/shardboard", "/bin/true"))
	must(t, os.WriteFile(copied, text, 0o600))
	out, err := exec.CommandContext(t.Context(), "systemd-analyze", "verify", "--man=no", copied).CombinedOutput()
	if err != nil || len(strings.TrimSpace(string(out))) > 0 {
		t.Errorf("verify: %v\n%s", err, out)
	}
	// In tenths; the scale goes from 0, safe, to 10.
	out, err = exec.CommandContext(t.Context(), "systemd-analyze", "security", "--offline=true", "--threshold=15", copied).CombinedOutput()
	if err != nil {
		t.Errorf("security: %v\n%s", err, out)
	}
}

func TestSysusersMakesTheUsersOfTheUnit(t *testing.T) {
	text, err := os.ReadFile("../../deploy/systemd/shardboard.sysusers")
	must(t, err)
	if !strings.Contains(string(text), "\nu "+options(t)["Service.User"][0]+" -") {
		t.Errorf("%s", text)
	}
}

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
