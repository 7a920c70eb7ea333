package deploy_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	"sigs.k8s.io/yaml"
)

const composeDir = "../../deploy/compose"

// project reads the Compose file as `docker compose` does, with its schema and its rules.
func project(t *testing.T, profiles ...string) *types.Project {
	t.Helper()
	o, err := cli.NewProjectOptions([]string{filepath.Join(composeDir, "compose.yaml")}, cli.WithProfiles(profiles), cli.WithConsistency(true),
		cli.WithNormalization(true), cli.WithInterpolation(true))
	must(t, err)
	p, err := o.LoadProject(t.Context())
	must(t, err)
	return p
}

// The numbers of members are those of the README and of Yorkie's design.
func TestComposeHasASmallAndAFullCluster(t *testing.T) {
	for _, c := range []struct {
		profiles                []string
		config, members, mongos int
		shards                  []string
	}{
		{nil, 1, 2, 1, []string{"shard-rs-1", "shard-rs-2"}},
		{[]string{"full"}, 3, 9, 2, []string{"shard-rs-1", "shard-rs-2", "shard-rs-3"}},
	} {
		config, members, mongos := 0, 0, 0
		var shards []string
		for _, s := range project(t, c.profiles...).Services {
			switch {
			case slices.Contains(s.Command, "--configsvr"):
				config++
			case slices.Contains(s.Command, "--shardsvr"):
				members++
				name := s.Command[slices.Index(s.Command, "--replSet")+1]
				if !slices.Contains(shards, name) {
					shards = append(shards, name)
				}
			case len(s.Command) > 0 && s.Command[0] == "mongos":
				mongos++
			}
		}
		slices.Sort(shards)
		if config != c.config || members != c.members || mongos != c.mongos || !slices.Equal(shards, c.shards) {
			t.Errorf("profiles %v: %d config servers, %d members of %v, %d mongos", c.profiles, config, members, shards, mongos)
		}
	}
}

func TestComposeWaitsForWhatAServiceNeeds(t *testing.T) {
	p := project(t, "full")
	for name, s := range p.Services {
		for other, d := range s.DependsOn {
			on := p.Services[other]
			oneShot := strings.HasPrefix(other, "init-") || strings.HasPrefix(other, "secrets") || other == "demo-data"
			switch {
			case oneShot && d.Condition != types.ServiceConditionCompletedSuccessfully:
				t.Errorf("%s does not wait until %s has ended well: %s", name, other, d.Condition)
			case !oneShot && d.Condition == types.ServiceConditionHealthy && on.HealthCheck == nil && on.Build == nil:
				t.Errorf("%s waits for the health of %s, which has no check", name, other)
			case !oneShot && d.Condition != types.ServiceConditionHealthy && on.NetworkMode == "" && !strings.HasPrefix(s.NetworkMode, "service:"):
				t.Errorf("%s does not wait for the health of %s: %s", name, other, d.Condition)
			}
		}
		if strings.HasPrefix(s.NetworkMode, "service:") {
			if len(s.Ports) > 0 {
				t.Errorf("%s shares a network and has ports", name)
			}
			if _, ok := p.Services[strings.TrimPrefix(s.NetworkMode, "service:")]; !ok {
				t.Errorf("%s shares the network of nobody", name)
			}
		}
		for _, port := range s.Ports {
			if port.HostIP != "127.0.0.1" {
				t.Errorf("%s can be reached from other machines: %+v", name, port)
			}
		}
	}
}

func TestComposeRefersOnlyToWhatIsThere(t *testing.T) {
	p := project(t, "full")
	used := map[string]bool{}
	for name, s := range p.Services {
		if s.Build != nil {
			if _, err := os.Stat(filepath.Join(s.Build.Context, s.Build.Dockerfile)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, v := range s.Volumes {
			if v.Type == types.VolumeTypeBind {
				if _, err := os.Stat(v.Source); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				continue
			}
			used[v.Source] = true
		}
		for _, word := range s.Command {
			if file, ok := strings.CutPrefix(word, "/init/"); ok {
				if _, err := os.Stat(filepath.Join(composeDir, "init", file)); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	}
	for name := range p.Volumes {
		if !used[name] {
			t.Errorf("nobody uses the volume %s", name)
		}
	}
}

// A mongod that stores beside its volume begins anew when its container does.
func TestComposeKeepsTheDataOfEachMemberInAVolumeOfItsOwn(t *testing.T) {
	used := map[string]string{}
	for name, s := range project(t, "full").Services {
		if len(s.Command) == 0 || s.Command[0] != "mongod" {
			continue
		}
		path := "/data/db"
		if slices.Contains(s.Command, "--configsvr") {
			path = "/data/configdb"
		}
		if i := slices.Index(s.Command, "--dbpath"); i >= 0 {
			path = s.Command[i+1]
		}
		i := slices.IndexFunc(s.Volumes, func(v types.ServiceVolumeConfig) bool { return v.Target == path && v.Type == types.VolumeTypeVolume })
		if i < 0 || s.Volumes[i].Source == "" {
			t.Errorf("%s stores in %s, which is no volume with a name", name, path)
			continue
		}
		if other := used[s.Volumes[i].Source]; other != "" {
			t.Errorf("%s and %s store in one volume", name, other)
		}
		used[s.Volumes[i].Source] = name
	}
	if len(used) != 12 {
		t.Errorf("%d members", len(used))
	}
}

// The file of Caddy's program has this capability. The kernel refuses to start it where the capability is dropped.
func TestComposeLetsCaddyStart(t *testing.T) {
	if s := project(t).Services["front"]; !slices.Equal(s.CapAdd, []string{"NET_BIND_SERVICE"}) || s.User == "" {
		t.Errorf("capabilities %v, user %q", s.CapAdd, s.User)
	}
}

// Each container sees the secrets of its own only, as files; nothing secret is in the environment.
func TestComposeGivesEachServiceItsOwnSecrets(t *testing.T) {
	want := map[string]string{"shardboard": "secrets-shardboard", "yorkie": "secrets-yorkie", "demo-data": "secrets-loader"}
	for name, s := range project(t, "full").Services {
		for _, v := range s.Volumes {
			if !strings.HasPrefix(v.Source, "secrets-") || name == "secrets" || name == "secrets-full" {
				continue
			}
			expected, ok := want[name]
			if strings.HasPrefix(name, "init-") {
				expected, ok = "secrets-init", true
			} else if !ok {
				expected = "secrets-mongo"
			}
			if v.Source != expected || !v.ReadOnly {
				t.Errorf("%s mounts %s, read-only: %v", name, v.Source, v.ReadOnly)
			}
		}
		for key, value := range s.Environment {
			if value != nil && (strings.Contains(*value, "mongodb://") || strings.Contains(strings.ToLower(key), "password")) {
				t.Errorf("%s has %s=%s in its environment", name, key, *value)
			}
		}
	}
}

func TestComposeRunsShardboardWithoutRights(t *testing.T) {
	s := project(t).Services["shardboard"]
	if !s.ReadOnly || !slices.Equal(s.CapDrop, []string{"ALL"}) || !slices.Contains(s.SecurityOpt, "no-new-privileges:true") || s.User != "" {
		t.Errorf("read-only %v, dropped %v, options %v, user %q (default: the image's)", s.ReadOnly, s.CapDrop, s.SecurityOpt, s.User)
	}
	if on := s.Environment["SHARDBOARD_ACTIONS"]; on == nil || *on != "on" {
		t.Error("actions are off")
	}
}

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
