package deploy_test

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/coreos/go-systemd/v22/unit"
	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/linter"
	"github.com/moby/buildkit/frontend/dockerfile/parser"

	"shardboard/test/process"
)

// runnable are the blocks of a page that are marked to be run here. The rest needs root, Docker or Kubernetes.
var runnable = regexp.MustCompile("(?ms)<!-- run: (\\w+) -->\n```sh\n(.*?)^```$")

// block is the block of a page with a name, which is run.
func block(t *testing.T, page, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../docs", page))
	must(t, err)
	for _, found := range runnable.FindAllSubmatch(text, -1) {
		if string(found[1]) == name {
			return string(found[2])
		}
	}
	t.Fatalf("%s has no block %q to run", page, name)
	return ""
}

func TestMain(m *testing.M) { process.Main(m) }

// shardboard is the program, in a folder where it has its own name.
func shardboard(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "shardboard")
	made, err := filepath.Abs(process.Shardboard(t))
	must(t, err)
	must(t, os.Symlink(made, bin))
	return bin
}

func simcluster(t *testing.T, bin string) (address string) {
	t.Helper()
	return process.Start(t, bin, "simcluster", "--listen", "127.0.0.1:0", "--empty", "--still").Line(t, `^(mongodb://\S+)`)
}

// What docs/install.md says for the binary starts a server. What docs/upgrade.md says makes a backup while it runs, and
// leads back to it: the audit record of the restored data is in order, so the next start signs it.
func TestTheInstallationItsBackupAndTheWayBackWorkAsWritten(t *testing.T) {
	bin := shardboard(t)
	uri := simcluster(t, bin)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	env := append(os.Environ(), "PATH="+filepath.Dir(bin)+":"+os.Getenv("PATH"), "MONGODB_ADDRESS="+uri, "HOME="+dir,
		"DATA_DIR="+at("data"), "KEY_DIR="+at("keys"), "BACKUP_DIR="+dir, "SHARDBOARD_LISTEN=127.0.0.1:0",
		"SHARDBOARD_DATA_DIR="+at("data"), "SHARDBOARD_AUDIT_KEY="+at("keys/audit.key"))
	do := func(script string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "sh", "-ec", script)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", script, err, out)
		}
		return string(out)
	}
	serve := func(script string) (stop func()) {
		t.Helper()
		cmd := exec.Command("sh", "-c", script)
		cmd.Dir, cmd.Env = dir, env
		p := process.Run(t, cmd)
		p.Line(t, `^shardboard is at (http://.*)`)
		return func() { p.Stop(t) }
	}
	stop := serve(block(t, "install.md", "binary"))
	if info, err := os.Stat(at("uri")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file with the address: %v, %v", info, err)
	}
	stop()
	addUser := func(name string) {
		t.Helper()
		do(`echo 'a password that nobody else has' | shardboard user add ` + name + ` --role admin --data-dir "$DATA_DIR"`)
	}
	witness := func() string {
		t.Helper()
		found, err := filepath.Glob(at("keys/audit.key.*.head"))
		if err != nil || len(found) != 1 {
			t.Fatalf("witnesses %v, %v", found, err)
		}
		return read(t, found[0])
	}
	addUser("anna")
	stop = serve("shardboard serve --uri-file uri")
	do(block(t, "upgrade.md", "backup"))
	stop()
	before := witness()
	addUser("ben")
	serve("shardboard serve --uri-file uri")()
	if witness() == before {
		t.Fatal("nothing was recorded after the backup")
	}
	do(block(t, "upgrade.md", "back"))
	serve("shardboard serve --uri-file uri")()
	if out := do(`shardboard audit verify --data-dir "$DATA_DIR"`); !strings.Contains(out, "in order") {
		t.Errorf("the record after the way back: %s", out)
	}
	if users := do(`shardboard user list --data-dir "$DATA_DIR"`); !strings.Contains(users, "anna") || strings.Contains(users, "ben") {
		t.Errorf("users after the way back:\n%s", users)
	}
}

// The settings of the chart start a server. Only its folders and ports are others here.
func TestTheSettingsOfTheChartStartAServer(t *testing.T) {
	bin := shardboard(t)
	uri := simcluster(t, bin)
	dir := t.TempDir()
	settings := environment(mustRender(t, least+`settings: {SHARDBOARD_HIDE_BOUNDS: true}`).sets[0].Spec.Template.Spec.Containers[0])
	settings["SHARDBOARD_LISTEN"], settings["SHARDBOARD_OPS_LISTEN"] = "127.0.0.1:0", "127.0.0.1:0"
	cmd := exec.Command(bin, "serve")
	cmd.Env = []string{"HOME=" + dir}
	for name, value := range settings {
		if strings.HasPrefix(value, "/") {
			value = filepath.Join(dir, value)
			must(t, os.MkdirAll(filepath.Dir(value), 0o700))
		}
		if name == "SHARDBOARD_URI_FILE" {
			must(t, os.WriteFile(value, []byte(uri), 0o600))
		}
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	operations := process.Run(t, cmd).Line(t, `^Health and metrics are at (.*)`)
	for _, path := range []string{"healthz", "metrics"} {
		res, err := http.Get(operations + path)
		must(t, err)
		_ = res.Body.Close()
		if res.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", path, res.Status)
		}
	}
	health := exec.CommandContext(t.Context(), bin, "healthcheck", "--server", strings.TrimSuffix(operations, "/"))
	if out, err := health.CombinedOutput(); err != nil {
		t.Errorf("healthcheck: %v\n%s", err, out)
	}
}

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

// stages parses the Dockerfile as BuildKit does, with its warnings.
func stages(t *testing.T) ([]instructions.Stage, []instructions.ArgCommand) {
	t.Helper()
	f, err := os.Open("../../Dockerfile")
	must(t, err)
	defer f.Close()
	tree, err := parser.Parse(f)
	must(t, err)
	for _, w := range tree.Warnings {
		t.Errorf("%s: %s", w.Short, w.URL)
	}
	lint := linter.New(&linter.Config{Warn: func(rule, _, _, message string, at []parser.Range) {
		t.Errorf("%s: %s (%v)", rule, message, at)
	}})
	out, args, err := instructions.Parse(tree.AST, lint)
	must(t, err)
	return out, args
}

// What the image of a release is, this is too: tools/release has a test with the same values.
func TestTheDockerfileMakesTheImageOfTheRelease(t *testing.T) {
	all, _ := stages(t)
	if len(all) != 2 || all[1].BaseName != "scratch" {
		t.Fatalf("%d stages, the last from %s", len(all), all[len(all)-1].BaseName)
	}
	var got []string
	for _, c := range all[1].Commands {
		switch c := c.(type) {
		case *instructions.UserCommand:
			got = append(got, "user "+c.User)
		case *instructions.EntrypointCommand:
			got = append(got, "entrypoint "+strings.Join(c.CmdLine, " ")+shellForm(c.PrependShell))
		case *instructions.CmdCommand:
			got = append(got, "cmd "+strings.Join(c.CmdLine, " ")+shellForm(c.PrependShell))
		case *instructions.HealthCheckCommand:
			got = append(got, "health "+strings.Join(c.Health.Test, " ")+" "+c.Health.Interval.String()+" "+c.Health.Timeout.String())
		case *instructions.StopSignalCommand:
			got = append(got, "signal "+c.Signal)
		case *instructions.VolumeCommand:
			got = append(got, "volumes "+strings.Join(c.Volumes, " "))
		case *instructions.EnvCommand:
			for _, e := range c.Env {
				got = append(got, "env "+e.Key+"="+e.Value)
			}
		case *instructions.ExposeCommand:
			got = append(got, "ports "+strings.Join(c.Ports, " "))
		case *instructions.RunCommand:
			t.Error("a stage from scratch cannot run anything")
		}
	}
	want := []string{"env SHARDBOARD_DATA_DIR=/data", "env SHARDBOARD_AUDIT_KEY=/keys/audit.key", "volumes /data /keys", "user 65532:65532",
		"ports 8090 8091", "signal SIGTERM", "health CMD /shardboard healthcheck 15s 3s", "entrypoint /shardboard", "cmd serve"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func shellForm(yes bool) string {
	if yes {
		return " (in a shell)"
	}
	return ""
}

// Go's release decides what is built, so it is pinned to the patch, and is that of the module.
func TestTheDockerfileBuildsWithAPinnedRelease(t *testing.T) {
	all, args := stages(t)
	if len(args) != 1 || args[0].Args[0].Value == nil || !regexp.MustCompile(`^golang:1\.26\.\d+-bookworm$`).MatchString(*args[0].Args[0].Value) {
		t.Errorf("arguments %v", args)
	}
	if all[0].BaseName != "${GO_IMAGE}" {
		t.Errorf("built from %s", all[0].BaseName)
	}
}
