package cluster_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/actions/operation"
	"shardboard/internal/balance"
	"shardboard/internal/cluster"
	"shardboard/internal/doctor"
	"shardboard/internal/fixture/change"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/topology"
)

// rolesPage is the documentation page with the roles; the tests read the roles from it.
const rolesPage = "../../docs/roles.md"

// privilege is one privilege document of a role.
type privilege struct {
	Resource bson.Raw `bson:"resource"`
	Actions  []string `bson:"actions"`
}

// role is a role of the page for one release.
type role struct {
	name       string
	privileges []privilege
	inherits   bson.A
}

// rolesOf reads the roles of the page, including the additions for a release.
func rolesOf(t *testing.T, version string) []role {
	t.Helper()
	page := must.Get(os.ReadFile(rolesPage))
	r := doctor.ParseRelease(version)
	newer := func(major, minor, patch int) bool { return slices.Compare(r[:], []int{major, minor, patch}) >= 0 }
	var out []role
	for _, block := range regexp.MustCompile(`(?s)runCommand\((\{.*?\n\})\)`).FindAllSubmatch(page, -1) {
		var cmd struct {
			Create     string      `bson:"createRole"`
			Grant      string      `bson:"grantPrivilegesToRole"`
			Privileges []privilege `bson:"privileges"`
			Roles      bson.A      `bson:"roles"`
		}
		if err := bson.UnmarshalExtJSON(block[1], true, &cmd); err != nil {
			t.Fatalf("%s: %v", block[1], err)
		}
		switch cmd.Grant {
		case "":
			out = append(out, role{cmd.Create, cmd.Privileges, cmd.Roles})
		case doctor.ViewerRole:
			places := len(cmd.Privileges[0].Actions) == 1 && cmd.Privileges[0].Actions[0] == "find"
			if !places && newer(6, 0, 3) || places && newer(7, 0, 0) {
				out[0].privileges = append(out[0].privileges, cmd.Privileges...)
			}
		case doctor.OperatorRole:
			has := func(action string) bool {
				return slices.ContainsFunc(cmd.Privileges, func(p privilege) bool { return slices.Contains(p.Actions, action) })
			}
			since5, since8 := has("reshardCollection"), has("moveCollection")
			if since5 && newer(5, 0, 0) || since8 && newer(8, 0, 0) || !since5 && !since8 && !newer(8, 0, 10) {
				out[1].privileges = append(out[1].privileges, cmd.Privileges...)
			}
		}
	}
	if len(out) != 2 || out[0].name != doctor.ViewerRole || out[1].name != doctor.OperatorRole {
		t.Fatalf("the page has the roles %v", out)
	}
	return out
}

// command is the createRole command; with another name, updateRole.
func (r role) command(name string) bson.D {
	return bson.D{{Key: name, Value: r.name}, {Key: "privileges", Value: r.privileges}, {Key: "roles", Value: r.inherits}}
}

// allPrivileges lists the role's privileges action by action.
func (r role) allPrivileges(t *testing.T) (out []doctor.Privilege) {
	t.Helper()
	for _, p := range r.privileges {
		var on struct {
			Cluster        bool
			DB, Collection string
		}
		must.Do(t, bson.Unmarshal(p.Resource, &on))
		for _, a := range p.Actions {
			out = append(out, doctor.Privilege{Action: a, On: topology.Resource{Cluster: on.Cluster, DB: on.DB, Collection: on.Collection}})
		}
	}
	return out
}

// without is the role without the nth of these privileges.
func (r role) without(n int) role {
	out := role{name: r.name, inherits: r.inherits}
	for _, p := range r.privileges {
		kept := privilege{Resource: p.Resource}
		for _, a := range p.Actions {
			if n != 0 {
				kept.Actions = append(kept.Actions, a)
			}
			n--
		}
		if len(kept.Actions) > 0 {
			out.privileges = append(out.privileges, kept)
		}
	}
	return out
}

// The page explains every privilege that it grants.
func TestRolesPageExplainsEveryPrivilege(t *testing.T) {
	page := must.Get(os.ReadFile(rolesPage))
	var rows []string
	for _, line := range strings.Split(string(page), "\n") {
		if strings.HasPrefix(line, "| `") {
			rows = append(rows, strings.SplitN(line, "|", 3)[1])
		}
	}
	for _, version := range []string{"5.0.7", "8.0.10"} {
		for _, r := range rolesOf(t, version) {
			for _, p := range r.allPrivileges(t) {
				name := "`" + p.On.Collection + "`"
				switch {
				case p.On.Cluster:
					name = "the cluster"
				case p.On.DB == "config":
					name = "`config." + p.On.Collection + "`"
				case p.On.Collection == "":
					name = "the database"
				}
				if !slices.ContainsFunc(rows, func(row string) bool {
					return strings.Contains(row, "`"+p.Action+"`") && strings.Contains(row, name)
				}) {
					t.Errorf("no row for %s", p)
				}
			}
		}
	}
}

// The page names the command of every operation beside each privilege that it needs, beyond reading.
func TestRolesPageNamesEveryCommand(t *testing.T) {
	page, err := os.ReadFile(rolesPage)
	must.Do(t, err)
	for _, s := range change.Every() {
		for _, release := range []balance.Release{{5, 0, 7}, {8, 0, 12}, {8, 3, 0}} {
			cmd, err := s.Command(release)
			if err != nil {
				continue
			}
			name, err := cmd.Doc.Index(0).KeyErr()
			must.Do(t, err)
			if name == "update" { // of the document of a setting
				name = map[operation.Op]string{operation.OpBalancing: "balancing of one collection",
					operation.OpBalancerWindow: "the balancing window"}[s.Op]
			}
			for _, g := range s.Op.Grants(release) {
				on := map[string]string{"": "the database", operation.OnCluster: "the cluster"}[g.On]
				if on == "" {
					on = "`" + g.On + "`"
				}
				for _, action := range g.Actions {
					if action != "find" && !regexp.MustCompile("(?m)^\\| .*`"+action+"`.* on "+on+" \\|.*"+name).Match(page) {
						t.Errorf("%s of %s needs %s on %s, which the page does not say", name, release, action, on)
					}
				}
			}
		}
	}
}

// Every address that docs/connect.md shows is one that shardboard takes. AWS, OIDC and SRV need a
// network and are parsed only.
func TestAddressesOfTheConnectPageAreValid(t *testing.T) {
	page := must.Get(os.ReadFile("../../docs/connect.md"))
	p := newPKI(t)
	cert, key := p.issue("board")
	p.file("ca.pem", p.ca)
	p.file("board.pem", cert, key)
	p.file("board.crt", cert)
	p.file("board.key", key)
	seen := 0
	for _, m := range regexp.MustCompile("`(mongodb(?:\\+srv)?://[^`]+/[^`]*)`").FindAllStringSubmatch(string(page), -1) {
		seen++
		text := strings.ReplaceAll(m[1], "/etc/shardboard", p.dir)
		u, err := cluster.ParseURI(text)
		if err != nil {
			t.Errorf("%s: %v", m[1], err)
			continue
		}
		expect.Equal(t, u.HoldsSecret(), strings.Contains(text, "PASSWORD"), "%s: holds a secret", m[1])
		if strings.HasPrefix(text, "mongodb://") {
			expect.ContainsAll(t, "zstd snappy zlib", options.Client().ApplyURI(text).Compressors, "%s: compressor", m[1])
		}
	}
	expect.That(t, seen >= 12, "%d addresses", seen)
}
