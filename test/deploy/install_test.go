package deploy_test

import (
	"bufio"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// runnable are the blocks of a page that are marked to be run here. The rest needs root, Docker or Kubernetes.
var runnable = regexp.MustCompile("(?ms)<!-- run: (\\w+) -->\n```sh\n(.*?)^```$")

// block is the block of a page with a name, which is run.
func block(t *testing.T, page, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../docs", page))
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range runnable.FindAllSubmatch(text, -1) {
		if string(found[1]) == name {
			return string(found[2])
		}
	}
	t.Fatalf("%s has no block %q to run", page, name)
	return ""
}

// shardboard is the program in SHARDBOARD_BIN, or one built from this repository, in a folder of its own.
func shardboard(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "shardboard")
	if made := os.Getenv("SHARDBOARD_BIN"); made != "" {
		if err := os.Symlink(made, bin); err != nil {
			t.Fatal(err)
		}
		return bin
	}
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", bin, "./cmd/shardboard")
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}

// start runs a command in a process group of its own until the function that it returns is called, and waits for a line
// that begins with a text. It returns the rest of that line.
func start(t *testing.T, cmd *exec.Cmd, text string) (rest string, stop func()) {
	t.Helper()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := make(chan string, 256)
	go func() {
		defer close(lines)
		for in := bufio.NewScanner(out); in.Scan(); {
			lines <- in.Text()
		}
	}()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		kill := time.AfterFunc(20*time.Second, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
		defer kill.Stop()
		for range lines { // until it has closed its output
		}
		_ = cmd.Wait()
	}
	t.Cleanup(stop)
	limit := time.After(60 * time.Second)
	for {
		select {
		case line, ok := <-lines:
			if !ok {
				t.Fatalf("%v ended without a line %q", cmd.Args, text)
			}
			if rest, ok := strings.CutPrefix(line, text); ok {
				return rest, stop
			}
		case <-limit:
			t.Fatalf("%v printed no line %q", cmd.Args, text)
		}
	}
}

// What docs/install.md says for the binary starts a server. What docs/upgrade.md says makes a backup while it runs, and
// leads back to it: the audit record of the restored data is in order, so the next start signs it.
func TestTheInstallationItsBackupAndTheWayBackWorkAsWritten(t *testing.T) {
	bin := shardboard(t)
	uri, _ := start(t, exec.Command(bin, "simcluster", "--listen", "127.0.0.1:0", "--empty", "--still"), "mongodb://")
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	env := append(os.Environ(), "PATH="+filepath.Dir(bin)+":"+os.Getenv("PATH"), "MONGODB_ADDRESS=mongodb://"+uri, "HOME="+dir,
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
		_, stop = start(t, cmd, "shardboard is at http://")
		return stop
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
	uri, _ := start(t, exec.Command(bin, "simcluster", "--listen", "127.0.0.1:0", "--empty", "--still"), "mongodb://")
	dir := t.TempDir()
	settings := environment(mustRender(t, least+`settings: {SHARDBOARD_HIDE_BOUNDS: true}`).sets[0].Spec.Template.Spec.Containers[0])
	settings["SHARDBOARD_LISTEN"], settings["SHARDBOARD_OPS_LISTEN"] = "127.0.0.1:0", "127.0.0.1:0"
	cmd := exec.Command(bin, "serve")
	cmd.Env = []string{"HOME=" + dir}
	for name, value := range settings {
		if strings.HasPrefix(value, "/") {
			value = filepath.Join(dir, value)
			if err := os.MkdirAll(filepath.Dir(value), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if name == "SHARDBOARD_URI_FILE" {
			if err := os.WriteFile(value, []byte("mongodb://"+uri), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	operations, _ := start(t, cmd, "Health and metrics are at ")
	for _, path := range []string{"healthz", "metrics"} {
		res, err := http.Get(operations + path)
		if err != nil {
			t.Fatal(err)
		}
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
