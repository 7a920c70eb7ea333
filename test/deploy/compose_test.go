package deploy_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
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
