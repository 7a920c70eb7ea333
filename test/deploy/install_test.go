package deploy_test

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

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
