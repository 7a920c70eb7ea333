package deploy_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"sigs.k8s.io/yaml"
)

// makeSecrets runs the script of the service `secrets` as its container does, as root, in a folder of its own.
func makeSecrets(t *testing.T, dir string, env ...string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("the script gives files to other users, which only root may")
	}
	cmd := exec.CommandContext(t.Context(), "bash", filepath.Join(composeDir, "init", "secrets.sh"))
	cmd.Env = append(append(os.Environ(), "SECRETS="+dir), env...)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("%v\n%s", err, out)
	}
}

// volumesOf makes the folders where the service mounts its volumes.
func volumesOf(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, v := range project(t).Services["secrets"].Volumes {
		if name, ok := strings.CutPrefix(v.Target, "/secrets/"); ok {
			must(t, os.Mkdir(filepath.Join(dir, name), 0o755))
		}
	}
	return dir
}

func read(t *testing.T, parts ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(parts...))
	must(t, err)
	return string(text)
}

func TestComposeGivesEachSecretToItsUserAlone(t *testing.T) {
	dir := volumesOf(t)
	makeSecrets(t, dir)
	// The users are those of the images of MongoDB and shardboard, and that of the Compose file for Yorkie.
	for file, want := range map[string]string{
		"mongo/keyfile": "999 0400", "init/admin": "999 0600", "init/yorkie": "999 0600", "init/shardboard": "999 0600",
		"init/loader": "999 0600", "shardboard/uri": "65532 0400", "loader/uri": "65532 0400", "yorkie/yorkie.yml": "65534 0400",
	} {
		info, err := os.Stat(filepath.Join(dir, file))
		if err != nil {
			t.Error(err)
			continue
		}
		if got := fmt.Sprintf("%d %04o", info.Sys().(*syscall.Stat_t).Uid, info.Mode().Perm()); got != want {
			t.Errorf("%s has %s, want %s", file, got, want)
		}
	}
	if key := strings.TrimSpace(read(t, dir, "mongo/keyfile")); !regexp.MustCompile(`^[0-9a-f]{96}$`).MatchString(key) {
		t.Errorf("a key of %d characters; MongoDB takes 6 to 1024 of base64", len(key))
	}
	password := read(t, dir, "init/shardboard")
	want := "mongodb://shardboard:" + password + "@mongos1:27017/?authSource=admin\n"
	if got := read(t, dir, "shardboard/uri"); got != want {
		t.Errorf("the address %q, not %q", got, want)
	}
	var yorkie struct {
		Mongo struct{ ConnectionURI, YorkieDatabase, ConnectionTimeout string }
	}
	err := yaml.UnmarshalStrict([]byte(read(t, dir, "yorkie/yorkie.yml")), &yorkie)
	if err != nil || yorkie.Mongo.YorkieDatabase != "yorkie-meta" {
		t.Errorf("%v, %+v", err, yorkie)
	}
}

// A second start keeps all, as the members have the passwords; a small cluster that grew gets the address of its
// second mongos, and keeps it.
func TestComposeKeepsItsSecrets(t *testing.T) {
	dir := volumesOf(t)
	all := func() (out []string) {
		for _, file := range []string{"mongo/keyfile", "init/admin", "init/loader", "shardboard/uri", "loader/uri", "yorkie/yorkie.yml"} {
			out = append(out, read(t, dir, file))
		}
		return out
	}
	same := func(when string, a, b []string) {
		t.Helper()
		for i := range a {
			if a[i] != b[i] {
				t.Errorf("%s: %q became %q", when, a[i], b[i])
			}
		}
	}
	makeSecrets(t, dir)
	first := all()
	makeSecrets(t, dir)
	same("a second start", first, all())
	makeSecrets(t, dir, "MONGOS="+*project(t, "full").Services["secrets-full"].Environment["MONGOS"])
	full := all()
	for i := range first {
		first[i] = strings.Replace(first[i], "@mongos1:27017/", "@mongos1:27017,mongos2:27017/", 1)
	}
	same("the full cluster", first, full)
	makeSecrets(t, dir)
	same("a start after that", full, all())
}
